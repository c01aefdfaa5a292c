"""Says in one sentence why there is no answer to an exercise, and what was found instead."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from course_lib.curriculum import Exercise
from course_lib.grading.answers.segments import Segment
from course_lib.grading.answers.statements import Statement
from course_lib.grading.graded import FORMER, GRADED
from course_lib.grading.records import Submission

_MOST_NAMES = 3


@dataclass(frozen=True)
class Absence:
    """Why no answer was found.

    Attributes:
        reason: one or two sentences.
        needs_review: there may be one all the same: a file that nobody could read, a whole
            function under another name, or the answer to the exercise that was graded in its
            place before. Then nobody should get 0 for nothing.
    """

    reason: str
    needs_review: bool = False


def why_none(
    exercise: Exercise,
    submission: Submission,
    segments: Sequence[Segment],
    stubs: Sequence[Segment],
    place: Callable[[Segment], str],
    given: Collection[str] = (),
) -> Absence:
    """Why there is no answer.

    Args:
        exercise: the exercise.
        submission: what was handed in.
        segments: its cells.
        stubs: those that define what is asked for, but with nothing in it.
        place: how a segment is called.
        given: the shapes of the functions that stand in the instructor's notebook.
    """
    unread = any(file.is_unread for file in submission.files)
    if submission.problem:
        return Absence(submission.problem, unread)
    former = _former(exercise, segments)
    if former and not stubs:
        reason = _of_an_earlier_edition(former, place)
        return Absence(reason + _unread(submission), needs_review=True)
    reason = _where_it_should_be(exercise, segments, stubs, place)
    alike = [each for each in segments if _may_be_renamed(each, exercise, given)]
    if alike and not alike[-1].marker:
        names = sorted({name for each in alike for name in _whole(each, exercise, given)})
        reason += (
            f" But {place(alike[-1])} holds {_listed(names)}, which may be the answer under another"
            " name."
        )
    return Absence(reason + _unread(submission), unread or bool(alike))


def _former(exercise: Exercise, segments: Sequence[Segment]) -> Segment | None:
    """The last answer to what was graded in an exercise's place in an earlier edition."""
    theirs = (each for each in segments if each.marker and FORMER.get(each.marker) == exercise.id)
    return max(theirs, key=lambda each: each.order, default=None)


def _of_an_earlier_edition(former: Segment, place: Callable[[Segment], str]) -> str:
    assert former.marker
    return (
        f"{former.marker} in {place(former)} is of an earlier edition of the course; "
        f"{FORMER[former.marker]} is graded in its place."
    )


def _where_it_should_be(
    exercise: Exercise,
    segments: Sequence[Segment],
    stubs: Sequence[Segment],
    place: Callable[[Segment], str],
) -> str:
    marked = [each for each in segments if each.marker == exercise.id and each.is_code]
    if stubs:
        return _as_given(exercise, place(stubs[-1]))
    if marked and exercise.kind.is_function and functions_of(marked[-1]):
        return (
            f"Below `# EXERCISE {exercise.id}` in {place(marked[-1])} stands "
            f"{_listed(sorted(functions_of(marked[-1])))}, but no function called {exercise.id}."
        )
    if marked:
        return (
            f"{place(marked[-1]).capitalize()} has the line `# EXERCISE {exercise.id}`, but no "
            "answer below it."
        )
    return _nothing(exercise, segments, place)


def _may_be_renamed(segment: Segment, exercise: Exercise, given: Collection[str]) -> bool:
    """Whether a cell may hold the answer under another name: it answers no other exercise."""
    if not exercise.kind.is_function or segment.marker not in (None, exercise.id):
        return False
    if not segment.is_code or segment.in_lesson or segment.is_experiment:
        return False
    if "def" not in segment.text:  # much faster
        return False
    return bool(_whole(segment, exercise, given))


def _whole(segment: Segment, exercise: Exercise, given: Collection[str]) -> list[str]:
    """The student's own functions in a cell that are complete and look like what is asked for."""

    def looks_like_it(each: Statement) -> bool:
        if segment.marker == exercise.id:
            return True
        is_kernel = not exercise.kind.is_launched or "cuda" in each.uses
        return is_kernel and each.parameters == len(exercise.parameters)

    return [
        name
        for each in segment.code.statements
        if each.kind == "function" and not each.is_stub and each.shape not in given
        if looks_like_it(each)
        for name in each.binds - GRADED.keys()
    ]


def functions_of(segment: Segment) -> set[str]:
    """The functions that a segment defines."""
    return {
        name for each in segment.code.statements if each.kind == "function" for name in each.binds
    }


def _as_given(exercise: Exercise, place: str) -> str:
    if not exercise.kind.is_function:
        return f"The numbers in {place} are still those of the exercise."
    return f"{exercise.id} in {place} is still empty."


def _nothing(
    exercise: Exercise, segments: Sequence[Segment], place: Callable[[Segment], str]
) -> str:
    what = exercise.kind.asked_for(exercise)
    sentence = f"There is no cell with `# EXERCISE {exercise.id}`, and no {what}."
    for segment in segments:
        if segment.in_lesson and segment.is_code and segment.binding(exercise.id):
            return f"{sentence} (The one in {place(segment)} is the lesson's.)"
    names = {name for each in segments if each.is_code for name in functions_of(each)}
    near = difflib.get_close_matches(exercise.id, sorted(names)[:200], n=1, cutoff=0.7)
    return f"{sentence} (There is a function called {near[0]}.)" if near else sentence


def _unread(submission: Submission) -> str:
    unread = [file for file in submission.files if file.problem]
    return f" And {unread[0].label} could not be read: {unread[0].problem}" if unread else ""


def _listed(names: Sequence[str]) -> str:
    some = names[:_MOST_NAMES]
    return ", ".join(some) + (", …" if len(names) > _MOST_NAMES else "")
