"""Says in one sentence why there is no answer to an exercise, and what was found instead."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from course_lib.curriculum import Exercise
from course_lib.grading.records import Submission
from course_lib.grading.segments import Segment

_MOST_NAMES = 3


def why_none(
    exercise: Exercise,
    submission: Submission,
    segments: Sequence[Segment],
    stubs: Sequence[Segment],
    place: Callable[[Segment], str],
) -> str:
    """Why there is no answer.

    Args:
        exercise: the exercise.
        submission: what was handed in.
        segments: its cells.
        stubs: those that define what is asked for, but with nothing in it.
        place: how a segment is called.
    """
    if submission.problem:
        return submission.problem
    marked = [each for each in segments if each.marker == exercise.id and each.is_code]
    if stubs:
        return _as_given(exercise, place(stubs[-1]))
    renamed = [each for each in marked if functions_of(each)]
    if renamed and exercise.kind != "constants":
        return (
            f"Below `# EXERCISE {exercise.id}` in {place(renamed[-1])} stands "
            f"{_listed(functions_of(renamed[-1]))}, but no function called {exercise.id}."
        )
    if marked:
        return (
            f"{place(marked[-1]).capitalize()} has the line `# EXERCISE {exercise.id}`, but no "
            "answer below it."
        )
    return _nothing(exercise, segments, place) + _unread(submission)


def functions_of(segment: Segment) -> set[str]:
    """The functions that a segment defines."""
    return {
        name for each in segment.code.statements if each.kind == "function" for name in each.binds
    }


def _as_given(exercise: Exercise, place: str) -> str:
    if exercise.kind == "constants":
        return f"The numbers in {place} are still those of the exercise."
    return f"{exercise.id} in {place} is still empty."


def _nothing(
    exercise: Exercise, segments: Sequence[Segment], place: Callable[[Segment], str]
) -> str:
    what = f"function {exercise.id}"
    if exercise.kind == "constants":
        what = f"cell that sets {exercise.signature}"
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


def _listed(names: set[str]) -> str:
    some = sorted(names)[:_MOST_NAMES]
    return ", ".join(some) + (", …" if len(names) > _MOST_NAMES else "")
