"""What a verdict shows beside the report: the answer's lines, par, an offer, where to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib import progress
from course_lib.curriculum import Exercise, Task, lesson, next_lesson
from course_lib.diagnosis.report import Report
from course_lib.own_ladder import Step, own_ladder
from course_lib.verdicts.medium import NOTEBOOK, Medium
from course_lib.verdicts.typed import Listing, lines_typed, listings

FAILURES_BEFORE_AN_OFFER = 3


@dataclass(frozen=True)
class Verdict:
    """Everything that is shown of one check.

    Attributes:
        report: what was found.
        exercise: what was asked.
        listings: the answer's functions, the one that was asked for first.
        typed: how many lines of a task's answer the student has typed.
        offers_answer: the task has failed so often that its answer is offered.
        rungs: the student's own ladder, where this answer is a rung of it.
        onwards: after a graded exercise: the next thing to do, and its address or "".
        stands_in: a sentence for each function of an earlier task that the answer could call.
        medium: where all this is read.
    """

    report: Report
    exercise: Exercise
    listings: Sequence[Listing] = ()
    typed: int = 0
    offers_answer: bool = False
    rungs: Sequence[Step] = ()
    onwards: tuple[str, str] | None = None
    stands_in: Sequence[str] = ()
    medium: Medium = NOTEBOOK

    @property
    def task(self) -> Task | None:
        """The task, if it is one and no graded exercise."""
        return self.exercise if isinstance(self.exercise, Task) else None

    @property
    def waits(self) -> bool:
        """Whether a task's function still is as it was given: there is nothing to look at."""
        return self.task is not None and bool(self.listings) and not self.typed

    @property
    def par(self) -> str:
        """ "You wrote 3 lines; par is 2.", of a task that was passed."""
        if self.task is None or not self.report.passed or not self.typed:
            return ""
        lines = "1 line" if self.typed == 1 else f"{self.typed} lines"
        if self.typed == self.task.par:
            return f"You wrote {lines}, which is par."
        return f"You wrote {lines}; par is {self.task.par}."

    @property
    def offer(self) -> str:
        """How a student who is stuck gets to see an answer."""
        if not self.offers_answer:
            return ""
        shown = self.medium.shows_answer.format(id=self.exercise.id)
        return f"Stuck? {shown} A later lesson then asks for this task again, unaided."


def verdict_of(
    report: Report,
    exercise: Exercise,
    answer: object,
    medium: Medium = NOTEBOOK,
    stands_in: Sequence[str] = (),
) -> Verdict:
    """The verdict on an answer, after its outcome was noted."""
    found = listings(answer) if exercise.kind.is_function else []
    typed = 0
    if isinstance(exercise, Task) and found:
        typed = lines_typed(exercise.given, "\n".join(found[0].lines))
    failed = not report.passed and not exercise.is_graded
    stuck = failed and progress.entry(exercise.id).in_a_row >= FAILURES_BEFORE_AN_OFFER
    passed = report.passed
    rungs = own_ladder(exercise.id) if passed and exercise.rung else ()
    onwards = _onwards(exercise, medium) if passed and exercise.is_graded else None
    return Verdict(
        report, exercise, tuple(found), typed, stuck, rungs, onwards, tuple(stands_in), medium
    )


def _onwards(exercise: Exercise, medium: Medium) -> tuple[str, str] | None:
    """What comes after an exercise: another one beside it, or the next lesson."""
    this = lesson(exercise.lesson)
    later = this.exercises[this.exercises.index(exercise.id) + 1 :]
    if later:
        return f"`{later[0]}`, below", ""
    after = next_lesson(this)
    if after is None:
        return None
    return f"lesson {after.number} · {after.title}", medium.lesson.format(stem=after.stem)
