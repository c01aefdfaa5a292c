"""What came of a launch in the playground, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from course_lib.emulator.profile import annotate
from course_lib.findings import Finding
from course_lib.tab.launches import Played
from course_lib.verdicts import page
from course_lib.web import escape

MOST_PRINTED = 40  # lines


def of(played: Played, is_brief: bool = False) -> str:
    """Findings, what the orders of the warps made of it, and the kernel line by line.

    A brief one has the findings alone.
    """
    found = played.findings
    errors = sum(each.severity == "error" for each in found)
    name = played.wanted.kernel.name
    several = len(played.runs) > 1
    orders = f"{len(played.runs)} orders of its warps" if several else "the one run that was made"
    if not found:
        said = f"{name}: no findings in {orders}"
    else:
        warnings = len(found) - errors
        said = f"{name}: {_many(errors, 'error')}, {_many(warnings, 'warning')} in {orders}"
    more = () if is_brief else _parts(played)
    return page.card("\n".join([*_of_findings(said, found), *more]))


def of_findings(said: str, findings: Sequence[Finding]) -> str:
    """A headline and what was found, where nothing ran."""
    return page.card("\n".join(_of_findings(said, findings)))


def _of_findings(said: str, findings: Sequence[Finding]) -> Iterator[str]:
    wrong = any(each.severity == "error" for each in findings)
    sign, kind = ("✗", "wrong") if wrong else ("✓", "right")
    yield (
        f'<p class="ml-title" data-said="{kind}"><span class="sign" aria-hidden="true">{sign}'
        f"</span> {escape(said)}</p>"
    )
    for each in findings:
        where = "" if each.line is None else f"Line {each.line}: "
        yield f'<div class="note" data-is="{each.severity}">{page.note_of(each, where)}</div>'


def _parts(played: Played) -> Iterator[str]:
    profile = played.first.profile
    differing = played.differing()
    if differing:
        names = escape(", ".join(differing))
        yield f"<p>The order of the warps decides what stands in {names} in the end.</p>"
    elif len(played.runs) > 1:
        yield "<p>Every order of the warps leaves the same numbers.</p>"
    yield annotate.as_html(replace(profile, findings=[]))
    if profile.output:
        lines = profile.output[:MOST_PRINTED]
        left = len(profile.output) + profile.unkept_lines - len(lines)
        more = f"\n… and {left:,} more lines" if left else ""
        yield f"<p>Printed:</p><pre>{escape(chr(10).join(lines) + more)}</pre>"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
