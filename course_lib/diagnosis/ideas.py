"""What an entry itself says that wrong answers compute: ideas as data, tried on the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.launches.outcome import Array, Outcome
from course_lib.problems.described import in_float64
from course_lib.problems.problem import Problem
from course_lib.registry.exercise import WrongIdea

ROOM = 1e-3  # of a row's largest number, by which other launches may be off an idea


def ideas_of(exercise: Exercise, problem: Problem) -> list[WrongIdea]:
    """What the entry says, and what is known of its kind of problem."""
    of_the_entry = exercise.wrong_ideas if isinstance(exercise, Task) else ()
    return [*of_the_entry, *problem.wrong_ideas()]


def idea_behind(
    ideas: Sequence[WrongIdea], outcome: Outcome, others: Sequence[Outcome]
) -> WrongIdea | None:
    """The idea that gives the numbers that came out: all of them, or none where none did.

    Those of the `others`, right or wrong, must not be different ones: then it is chance.
    """
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        for idea in ideas:
            if _explains(outcome, _computed(idea, outcome), idea):
                if not any(_contradicts(other, idea) for other in others):
                    return idea
    return None


def _computed(idea: WrongIdea, outcome: Outcome) -> Array:
    return np.asarray(idea.computes(*in_float64(outcome.inputs)))


def _contradicts(outcome: Outcome, idea: WrongIdea) -> bool:
    """Is there a number where the idea has clearly another one?"""
    values = _computed(idea, outcome)
    if not np.isfinite(values).all() or not outcome.known.any():
        return False
    return not _near(outcome, values, idea.room or ROOM)[outcome.known].all()


def _explains(outcome: Outcome, values: Array, idea: WrongIdea) -> bool:
    """Are these the numbers that came out, and no finite ones where none came out?

    Where finite numbers should have, what did come was read beyond an array, or from a cell that
    nobody has written: that is said instead. Nor do a few numbers say where the others would be.
    """
    lost = ~np.isfinite(outcome.got) & ~outcome.untouched
    finite = (np.isfinite(values) | (not idea.code)) & (values != outcome.poison)
    stored = np.broadcast_to(finite, outcome.got.shape)
    if 2 * np.count_nonzero(stored & outcome.untouched) >= np.count_nonzero(stored) > 0:
        return False
    if np.isfinite(np.broadcast_to(values, lost.shape)[lost]).any():
        return False
    if not outcome.known.any():  # numbers that are none are like any others
        return bool(lost.any()) and (not idea.code or idea.code == "numerical-overflow")
    return _is_near(outcome, values, idea.room) if idea.room else outcome.matches(values)


def _is_near(outcome: Outcome, values: Array, share: float) -> bool:
    """Are these the numbers, up to a share of the largest of a row, and not the right ones?"""
    near = _near(outcome, values, share)
    with np.errstate(invalid="ignore"):
        differs = ~(np.abs(values - outcome.expected) <= _room(outcome, values, share))
    return bool(near[outcome.known].all() and (differs & ~outcome.untouched).any())


def _near(outcome: Outcome, values: Array, share: float) -> Array:
    near: Array = np.abs(values - outcome.values) <= _room(outcome, values, share)
    return near


def _room(outcome: Outcome, values: Array, share: float) -> Array:
    room: Array = share * np.abs(values).max(axis=-1, keepdims=True) + 2 * outcome.tolerance
    return room
