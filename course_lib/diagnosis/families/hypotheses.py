"""What a wrong kernel may have computed, and which of it fits the numbers that came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.slip import Slip

Array = np.ndarray
# Explains an output, or does not; what it tries is its own affair.
Test = Callable[[Outcome], Slip | None]


@dataclass(frozen=True)
class Hypothesis:
    """Something that a wrong kernel may compute.

    Attributes:
        values: the output that it gives; a function where that takes long, called when it is tried.
        code, message, hint, place, steps: of the slip, if these are the numbers that came out.
    """

    values: Array | Callable[[], Array]
    code: str
    message: str
    hint: str
    place: tuple[str, ...]
    steps: tuple[int, ...] = ()

    def slip(self) -> Slip:
        return Slip(self.code, self.message, self.hint, self.place, self.steps)


def first_that_fits(hypotheses: Iterable[Hypothesis], fits: Callable[[Array], bool]) -> Slip | None:
    """The slip of the first hypothesis whose output `fits` what came out; no later one is made."""
    for each in hypotheses:
        if fits(each.values() if callable(each.values) else each.values):
            return each.slip()
    return None


def trying(hypotheses_of: Callable[[Outcome], Iterable[Hypothesis]]) -> Test:
    """The test that tries what a family has to say of an output, one hypothesis after the other."""

    def test(outcome: Outcome) -> Slip | None:
        return first_that_fits(hypotheses_of(outcome), outcome.matches)

    return test


def first_explanation(tests: Sequence[Test], outcome: Outcome) -> Slip | None:
    """The slip of the first test that explains an output; None if all is right, or none does."""
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        return next(filter(None, (test(outcome) for test in tests)), None)
