"""The verdict on an answer, and how it reads."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from course_lib.curriculum import Exercise
from course_lib.diagnosis.launch_choice import Launched
from course_lib.diagnosis.points import earned_points
from course_lib.findings import CODES, Finding, by_importance
from course_lib.sentences import Capital, told

WIDTH = 96
MOST_LINES = 15  # of a printed verdict
MOST_ERRORS = 3  # shown at once; mending the first often mends the others


@dataclass(frozen=True)
class Report:
    """What was found about one answer.

    Attributes:
        exercise: the exercise's id.
        findings: errors first, causes before symptoms; warnings last.
        held: what holds, one sentence each.
        points, max_points: see curriculum.Exercise.points.
        earned: the points of each property that is judged.
        needs_review: a person should look: the tools, not the answer, may be at fault.
        numbers_right: every launch gave the right numbers.
        right_where_even: the launches did whose blocks divide all sizes.
        shares: the threads of a block hand numbers to each other; see points.lost_properties.
        launched: how a kernel was launched, where that was not the usual way.
    """

    exercise: str
    findings: tuple[Finding, ...] = ()
    held: tuple[str, ...] = ()
    points: int = 0
    max_points: int = 0
    earned: dict[str, int] = field(default_factory=dict)
    needs_review: bool = False
    numbers_right: bool = False
    right_where_even: bool = False
    shares: bool = True
    launched: Launched | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity == "warning")

    @property
    def passed(self) -> bool:
        return not self.errors

    def headline(self) -> str:
        """One line: the exercise, the verdict, the points."""
        if self.passed:
            verdict = "passed"
        elif self.needs_review:
            verdict = "could not be judged"
        elif not self.max_points and self.errors[0].code == "missing-answer":
            verdict = "no answer yet"
        else:
            verdict = "not yet"
        if not self.max_points:
            return f"{self.exercise}: {verdict}"
        return f"{self.exercise}: {verdict} ({self.points} of {self.max_points} points)"

    def __str__(self) -> str:
        lines = [self.headline()]
        if self.held:
            lines += _paragraph("Holds: ", "; ".join(self.held) + ".")
        if self.launched:
            lines += _paragraph("", str(self.launched))
        room = MOST_LINES - len(lines)
        shown = 0
        chosen = (*self.errors[:MOST_ERRORS], *self.warnings)
        for each in chosen:
            entry = _entry(each)
            if shown and len(entry) > room - 1:
                break
            lines += entry
            room -= len(entry)
            shown += 1
        left = len(self.findings) - shown
        if left:
            lines.append(f"And {left} more; mend these first.")
        return "\n".join(lines)


def _entry(each: Finding) -> list[str]:
    """A finding in two or three lines: where and what, then what to look at."""
    where = f"Line {each.line}" if each.line is not None else "The answer"
    kind = "" if each.severity == "error" else " (a warning)"
    lines = _paragraph("", f"{where}: {CODES[each.code].title}{kind} [{each.code}]")
    lines += _paragraph("  ", f"{told(Capital(each.message), 'student')} {each.values}")
    if each.hint:
        lines += _paragraph("  Look at: ", each.hint)
    return lines


def _paragraph(start: str, text: str) -> list[str]:
    """The text in lines of at most WIDTH characters, later ones indented."""
    indent = "  " if not start.startswith(" ") else " " * (len(start) - len(start.lstrip()))
    return textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=start, subsequent_indent=indent or "  "
    )


def make_report(
    exercise: Exercise,
    findings: Sequence[Finding],
    held: Sequence[str] = (),
    numbers_right: bool = False,
    right_where_even: bool = False,
    shares: bool = True,
) -> Report:
    """The report on an answer, with its points; for the last three see Report."""
    found = tuple(by_importance(findings))
    earned = earned_points(exercise, found, numbers_right, right_where_even, shares)
    return Report(
        exercise=exercise.id,
        findings=found,
        held=tuple(held),
        points=sum(earned.values()),
        max_points=exercise.max_points,
        earned=earned,
        needs_review=any(each.code == "unsupported" for each in found),
        numbers_right=numbers_right,
        right_where_even=numbers_right or right_where_even,
        shares=shares,
    )
