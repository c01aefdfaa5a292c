"""The verdict: all that is shown of one check, from its report to where to go; and as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.curriculum import TASKS, Exercise, Task, lesson, next_lesson
from course_lib.diagnosis.report import WIDTH, Report
from course_lib.own_ladder import OwnRung, own_ladder
from course_lib.student import progress
from course_lib.verdicts.typed import (
    NOTHING_TYPED,
    FunctionListing,
    TypedCode,
    listings,
    typed_of,
)
from course_lib.wording.words import counted, joined

# --- Where a verdict is read, and what it can point to there -------------------------------------


@dataclass(frozen=True)
class Medium:
    """A notebook, or a page of the book whose cell is judged in the browser.

    Attributes:
        shows_answer: how a student who is stuck gets to see an answer; {id} stands for the task.
        address: of another lesson or its exercises, seen from one; {folder} and {stem} stand for
            its file, and "" is for a place that has no such address.
    """

    shows_answer: str
    address: str = ""


_BY_CALL = 'course_lib.show_answer("{id}") shows an answer.'

NOTEBOOK = Medium(_BY_CALL, address="../{folder}/{stem}.ipynb")
COLAB = Medium(_BY_CALL)  # it has no folder of the course around a notebook
PAGE = Medium(
    "The button “Show one answer” shows one.",
    address="../{folder}/{stem}.html",
)


# --- Everything that is shown of one check --------------------------------------------------------


FAILURES_BEFORE_AN_OFFER = 3


@dataclass(frozen=True)
class Verdict:
    """Everything that is shown of one check.

    Attributes:
        report: what was found.
        exercise: what was asked.
        listings: the answer's functions, the one that was asked for first.
        typed: what the student has typed of a task's answer.
        offers_answer: the task has failed so often that its answer is offered.
        rungs: the student's own ladder, where this answer is a rung of it.
        onwards: after a graded exercise, and after the last task of a lesson: the next thing to do,
            and its address or "".
        stands_in: a sentence for each function of an earlier task that the answer could call.
        medium: where all this is read.
    """

    report: Report
    exercise: Exercise
    listings: Sequence[FunctionListing] = ()
    typed: TypedCode = NOTHING_TYPED
    offers_answer: bool = False
    rungs: Sequence[OwnRung] = ()
    onwards: tuple[str, str] | None = None
    stands_in: Sequence[str] = ()
    medium: Medium = NOTEBOOK

    @property
    def task(self) -> Task | None:
        """The task, if it is one and no graded exercise."""
        return self.exercise if isinstance(self.exercise, Task) else None

    @property
    def waits(self) -> bool:
        """Whether there is no answer yet, as the report says: there is nothing to look at."""
        return not self.report.passed and self.report.errors[0].code == "missing-answer"

    @property
    def par(self) -> str:
        """ "You: 4 lines, 2 barriers · par: 3 lines, 1 barrier", of a task that was passed."""
        if self.task is None or not self.report.passed or not self.typed.lines:
            return ""
        par = typed_of(self.task.given, self.task.answer)
        with_barriers = bool(self.typed.barriers or par.barriers)
        yours, ours = (_counted(lines, with_barriers) for lines in (self.typed, par))
        return (
            f"You: {yours}, which is par." if self.typed == par else f"You: {yours} · par: {ours}"
        )

    @property
    def offer(self) -> str:
        """How a student who is stuck gets to see an answer."""
        if not self.offers_answer:
            return ""
        shown = self.medium.shows_answer.format(id=self.exercise.id)
        return f"Stuck? {shown} A later lesson will then ask for this task again, without help."


def verdict_of(
    report: Report,
    exercise: Exercise,
    answer: object,
    medium: Medium = NOTEBOOK,
    stands_in: Sequence[str] = (),
) -> Verdict:
    """The verdict on an answer, after its outcome was noted."""
    found = listings(answer) if exercise.kind.is_function else []
    typed = NOTHING_TYPED
    if isinstance(exercise, Task) and found:
        typed = typed_of(exercise.given, "\n".join(found[0].lines))
    failed = not report.passed and not exercise.is_graded
    stuck = failed and progress.entry(exercise.id).in_a_row >= FAILURES_BEFORE_AN_OFFER
    passed = report.passed
    rungs = own_ladder(exercise.id, exercise.ladder) if passed and exercise.rung else ()
    onwards = _onwards(exercise, medium) if passed else None
    return Verdict(
        report, exercise, tuple(found), typed, stuck, rungs, onwards, tuple(stands_in), medium
    )


def _counted(typed: TypedCode, with_barriers: bool) -> str:
    """ "3 lines, 1 barrier"."""
    lines = counted(typed.lines, "line")
    barriers = f", {counted(typed.barriers, 'barrier') if typed.barriers else 'no barrier'}"
    return lines + barriers * with_barriers


def _onwards(exercise: Exercise, medium: Medium) -> tuple[str, str] | None:
    """What comes after an exercise: another one beside it, or the next lesson. After the last
    task of a lesson: its exercises, or the next lesson; after the others nothing is to be said.
    """
    this = lesson(exercise.lesson)
    if isinstance(exercise, Task):
        here = [task for task in TASKS.values() if task.lesson == this.number]
        last = max(here, key=lambda task: task.position)
        if exercise.id != last.id:
            return None
        if this.exercises:
            what = joined(f"`{exercise_id}`" for exercise_id in this.exercises)
            address = medium.address.format(folder="exercises", stem=this.stem)
            return f"the rest of this lesson, then {what}", address
    else:
        later = this.exercises[this.exercises.index(exercise.id) + 1 :]
        if later:
            return f"`{later[0]}`, below", ""
    after = next_lesson(this)
    if after is None:
        return None
    address = medium.address.format(folder="notebooks", stem=after.stem)
    return f"lesson {after.number} · {after.title}", address


# --- A verdict as text, for a terminal and for whoever shows no HTML -----------------------------


def text_of(verdict: Verdict) -> str:
    """The report, and below it what passing means, par, where to go on, or an offer of help."""
    parts = [*verdict.stands_in, str(verdict.report)]
    if verdict.report.passed:
        meaning = verdict.task.meaning if verdict.task else ""
        parts += [*_wrapped(meaning.replace("**", "")), *_wrapped(verdict.par)]
        parts += [*map(_rung, reversed(verdict.rungs))]
        if verdict.onwards:
            parts += _wrapped(f"Next: {verdict.onwards[0]}")
    parts += _wrapped(verdict.offer)
    return "\n".join(parts)


def _rung(step: OwnRung) -> str:
    """A rung of the student's ladder in one line."""
    name, sectors = step.rung, "global_load_sectors"
    yours, ours = (
        f"{counters[sectors]:,}" if sectors in counters else "not counted"
        for counters in (step.yours, step.ours)
    )
    least = f", at least {step.ladder.least_sectors:,}" if step.ladder.least_sectors else ""
    time = f", {step.time}" if step.time else ""
    return f"Rung {name}: {yours} sectors loaded, ours {ours}{least}{time}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)
