"""The report on an answer: findings, points and what was tried; and how it reads as text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from course_lib.curriculum import Exercise
from course_lib.diagnosis.answer import Launched
from course_lib.diagnosis.points import earned_points
from course_lib.wording.findings import CODES, Finding, by_importance
from course_lib.wording.sentences import whole

WIDTH = 96
MOST_LINES = 15  # of a printed verdict
MOST_ERRORS = 3  # shown at once; mending the first often mends the others


@dataclass(frozen=True)
class Tried:
    """One launch, or one call, that an answer was judged by.

    Attributes:
        what: the sizes or the call, "(33 x 37) @ (37 x 19)" or "sectors(3, 1)".
        right: it gave the right numbers, and touched nothing but its arrays.
        grid, block: of a launch, x first.
        schedule: the order in which the emulator ran the warps.
    """

    what: str
    right: bool
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    schedule: str = ""


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
        tried: every launch or call, in order.
        counts: what the launch on the most regular sizes counted, by the names of the counters.
        note: a sentence on what else was looked at, or could not be; or "".
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
    tried: tuple[Tried, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "warning")

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
        lines = [self.headline(), *self._above()]
        for finding in self.shown:
            lines += _entry(finding)
        return "\n".join([*lines, *filter(None, [self.left_out])])

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that are shown at once: few, and as many as a text has room for."""
        room = MOST_LINES - 1 - len(self._above())
        chosen: list[Finding] = []
        for finding in (*self.errors[:MOST_ERRORS], *self.warnings):
            lines = len(_entry(finding))
            if chosen and lines > room - 1:
                break
            chosen.append(finding)
            room -= lines
        return tuple(chosen)

    def _above(self) -> list[str]:
        """What holds, and how it was launched, above the findings."""
        held = _paragraph("Holds: ", "; ".join(self.held) + ".") if self.held else []
        launched = _paragraph("", str(self.launched)) if self.launched else []
        return held + launched + _paragraph("", self.note)

    @property
    def left_out(self) -> str:
        """A line on the findings that are not shown; "" if all are."""
        left = len(self.findings) - len(self.shown)
        return f"And {left} more; mend these first." if left else ""


Hearer = Callable[[Report], object]  # of the report as it is before a cause is searched for


def nobody(report: Report) -> None:
    """Listens to nothing: whoever asks waits for the cause."""


def _entry(finding: Finding) -> list[str]:
    """A finding in two or three lines: where and what, then what to look at."""
    where = f"Line {finding.line}" if finding.line is not None else "The answer"
    kind = "" if finding.severity == "error" else " (a warning)"
    lines = _paragraph("", f"{where}: {CODES[finding.code].title}{kind} [{finding.code}]")
    lines += _paragraph("  ", whole(finding.message, "student"))
    if finding.hint:
        lines += _paragraph("  Hint: ", finding.hint)
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
        needs_review=any(finding.code == "unsupported" for finding in found),
        numbers_right=numbers_right,
        right_where_even=numbers_right or right_where_even,
        shares=shares,
    )
