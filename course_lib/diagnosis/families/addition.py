"""C = A + B: the problem, and what wrong numbers equal instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.families.common import (
    added_to_old,
    at_zeros,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
    whole_numbers,
)
from course_lib.diagnosis.families.hypotheses import Hypothesis, trying
from course_lib.diagnosis.families.index_search import moved_slip
from course_lib.diagnosis.families.product.formula import moved
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import EPSILON, FEW_STEPS, Array, Problem
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say


class Sum(Problem):
    """C = A + B, element by element."""

    steps = FEW_STEPS
    steps_of_all = 25_000
    counted = 0
    any_range = True

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return shape[:2], shape[:2]

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        a, b = (each.astype(np.float64) for each in inputs)
        return a + b, EPSILON * (np.abs(a) + np.abs(b)) + 1e-30


def diagnose_add(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong sum of two matrices, or None."""
    tests = (
        not_written,
        at_zeros,
        added_to_old,
        moved,
        whole_numbers,
        other_sum,
        scaled_addition,
        moved_operand,
        not_finite,
    )
    return first_slip(tests, outcome)


def scaled_addition(outcome: Outcome) -> Slip | None:
    """The same where nothing is summed in a loop."""
    slip = shifted_or_scaled(outcome)
    if slip is None or slip.place != ("sum",):
        return slip
    hint = say("Compare the line that stores {array} with the formula.", array=outcome.output)
    return replace(slip, code="wrong-formula", hint=hint, place=("scale",))


@trying
def other_sum(outcome: Outcome) -> Iterator[Hypothesis]:
    """Another formula than A + B."""
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    formulas = {
        "A - B": A - B,
        "B - A": B - A,
        "A * B": A * B,
        "A alone: B does not take part": A,
        "B alone: A does not take part": B,
        "A + A": 2 * A,
        "B + B": 2 * B,
        "A / B": A / B,
        "|A| + B": np.abs(A) + B,
        "A + |B|": A + np.abs(B),
        "|A| + |B|": np.abs(A) + np.abs(B),
        "|A + B|": np.abs(A + B),
        "zero everywhere": 0 * A,
        "the larger of the two": np.maximum(A, B),
        "the smaller of the two": np.minimum(A, B),
        "the mean of the two": (A + B) / 2,
    }
    if A.shape[0] == A.shape[1]:
        formulas["A @ B, a matrix product"] = A @ B
    hint = "Say in words what one element of C is."
    for text, values in formulas.items():
        message = say("C equals {text}.", text=text)
        yield Hypothesis(values, "wrong-formula", message, hint, ("store",))


def moved_operand(outcome: Outcome) -> Slip | None:
    """One of the two matrices is read at the wrong place."""
    o = outcome
    for operand, matrix, other in (("A", o.A, o.B), ("B", o.B, o.A)):
        slip = moved_slip(
            matrix.astype(np.float64),
            o.values - other,
            o.sizes,
            o.tolerance,
            o.known,
            not o.untouched.any(),
            operand,
        )
        if slip:
            return replace(slip, place=("load", operand))
    return None
