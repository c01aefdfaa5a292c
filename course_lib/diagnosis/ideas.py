"""What an entry itself says that wrong answers compute: ideas as data, tried on the numbers."""

from __future__ import annotations

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.launches.outcome import Array, Outcome
from course_lib.diagnosis.problems.described import in_float64
from course_lib.exercise import WrongIdea


def idea_behind(exercise: Exercise, outcome: Outcome) -> WrongIdea | None:
    """The idea that gives the numbers that came out: all of them, or none where none did."""
    if not isinstance(exercise, Task) or outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        return next(
            (
                idea
                for idea in exercise.wrong_ideas
                if _explains(outcome, idea.computes(*in_float64(outcome.inputs)))
            ),
            None,
        )


def _explains(outcome: Outcome, values: Array) -> bool:
    """Are these the numbers that came out, and no finite ones where none came out?

    Where finite numbers should have, what did come was read beyond an array, or from a cell that
    nobody has written: that is said instead. Nor do a few numbers say where the others would be.
    """
    lost = ~np.isfinite(outcome.got) & ~outcome.untouched
    stored = np.broadcast_to(values != outcome.poison, outcome.got.shape)
    if 2 * np.count_nonzero(stored & outcome.untouched) >= np.count_nonzero(stored) > 0:
        return False
    if np.isfinite(np.broadcast_to(values, lost.shape)[lost]).any():
        return False
    return outcome.matches(values) or bool(lost.any() and not outcome.known.any())
