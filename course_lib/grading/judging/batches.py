"""What the cells of a batch notebook call: judge an answer, write the judgement down, say it.

This is imported in a kernel of its own. An answer arrives as a string and stays one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from course_lib.checking import examine_source
from course_lib.errors import PlainError
from course_lib.findings import CODES, Finding
from course_lib.grading.records import Judgement
from course_lib.sentences import AUDIENCES, in_words, whole

# An answer can make findings long (a name of a million letters), but not the gradebook.
MOST_CHARACTERS = 2000
MOST_FINDINGS = 100
SHOWN = 3


class NotPassed(PlainError):
    """The answer did not pass; a notebook shows this as one line."""


def judge(exercise_id: str, text: str, seed: int, context: str = "") -> Judgement:
    """Examine an answer's text, which is never executed.

    Args:
        exercise_id: such as "matmul_tiled".
        text: the answer.
        seed: draws the inputs and the shapes.
        context: the code that stands above the answer in the instructor's notebook.
    """
    report = examine_source(exercise_id, text, seed=seed, context=context)
    return Judgement(
        exercise=exercise_id,
        findings=tuple(map(_plain, report.findings[:MOST_FINDINGS])),
        held=tuple(map(_shortened, report.held)),
        numbers_right=bool(report.numbers_right),
        right_where_even=bool(report.right_where_even),
        needs_review=bool(report.needs_review),
        shares=bool(report.shares),
        launched=_shortened(str(report.launched or "")),
    )


class Desk:
    """Judges the answers of one batch, one after the other."""

    def __init__(self, results: str, seed: int, contexts: Mapping[str, str]) -> None:
        """
        Args:
            results: the file that each judgement is appended to.
            seed: as for `judge`.
            contexts: for each exercise, as for `judge`.
        """
        self._results = Path(results).resolve()
        self._seed = seed
        self._contexts = contexts

    def judge(self, item: int, exercise_id: str, text: str) -> None:
        """Judge one answer, write the judgement down, and print the verdict.

        Raises:
            NotPassed: if it did not pass, so that nbval counts it as failed.
        """
        judgement = judge(exercise_id, text, self._seed, self._contexts[exercise_id])
        line = json.dumps({"item": item, "judgement": judgement.to_json()})
        with open(self._results, "a", encoding="ascii") as file:
            file.write(line + "\n")
        print(verdict(judgement))
        if has_errors(judgement):
            cause = next(each for each in judgement.findings if each.severity == "error")
            raise NotPassed(f"{exercise_id}: not passed [{cause.code}]")


def has_errors(judgement: Judgement) -> bool:
    """Whether the answer did not pass."""
    return any(each.severity == "error" for each in judgement.findings)


def verdict(judgement: Judgement) -> str:
    """The verdict in a few lines, for the output of a cell."""
    passed = not has_errors(judgement)
    word = "passed" if passed else "needs review" if judgement.needs_review else "not passed"
    lines = [f"{judgement.exercise}: {word}", *(f"  holds: {each}" for each in judgement.held)]
    for each in judgement.findings[:SHOWN]:
        where = f"line {each.line}" if each.line is not None else "the answer"
        lines.append(f"  {where}: {CODES[each.code].title} [{each.code}]")
    # What a kernel prints has to be text that can be encoded.
    return "\n".join(lines).encode("utf-8", "backslashreplace").decode()


def _plain(found: Finding) -> Finding:
    message, hint = (
        in_words([_shortened(whole(said, audience)) for audience in AUDIENCES])
        for said in (found.message, found.hint)
    )
    return Finding(found.code, found.severity, message, found.line, hint)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 2] + " …"
