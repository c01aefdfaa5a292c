"""Put findings beside the lines of a whole text, for an editor to mark: facts, and no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from course_lib.verdicts.page import placed
from course_lib.verdicts.typed import FunctionListing
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole

OTHER = "other"


@dataclass(frozen=True)
class Mark:
    """What an editor shows at a line.

    Attributes:
        line: its number, from 1 on.
        severity: "error", "warning", or "other" for a line that a finding of another line names,
            such as the second one of a race.
        title: a few words.
        message: what happens there.
        hint: what to look at next; or "".
    """

    line: int
    severity: str
    title: str
    message: str
    hint: str = ""


def marks(findings: Sequence[Finding], text: str) -> list[Mark]:
    """The marks of a text, line by line; of one line, in the order of the findings."""
    whole = FunctionListing("", tuple(text.split("\n")), 1)
    found = [*_own(findings, whole), *_others(findings, whole)]
    return sorted(found, key=lambda each: (each.line, each.severity == OTHER))


def _own(findings: Sequence[Finding], whole: FunctionListing) -> Iterator[Mark]:
    for finding in findings:
        if finding.line is not None and whole.has(finding.line):
            yield Mark(
                finding.line,
                finding.severity,
                CODES[finding.code].title,
                _said(finding),
                finding.hint,
            )


def _others(findings: Sequence[Finding], whole: FunctionListing) -> Iterator[Mark]:
    marked, _ = placed(findings, [whole])
    for number in marked[0].others if marked else ():
        if number in marked[0].said:
            continue
        each = next(finding for finding in findings if finding.other_line == number)
        yield Mark(number, OTHER, f"see line {each.line}", _said(each))


def _said(each: Finding) -> str:
    return whole(each.message, "student")
