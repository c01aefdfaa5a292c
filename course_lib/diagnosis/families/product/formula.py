"""Wrong products: another formula, wrong indices, or a part taken for zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    zero,
)
from course_lib.diagnosis.families.hypotheses import Array, Hypothesis, Test, trying
from course_lib.diagnosis.families.index_search import index_slip, moved_slip
from course_lib.diagnosis.families.product.pitch import pitch_slip
from course_lib.diagnosis.families.product.steps import steps_wrong
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say
from course_lib.words import at_end


def diagnose_matmul(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong matrix product, or None."""
    tests: tuple[Test, ...] = (
        not_written,
        at_zeros,
        added_to_old,
        zero,
        moved,
        steps_wrong,
        whole_numbers,
        scaled_product,
        other_formula,
        carried_over,
        masked_operand,
        indices,
        pitch_slip,
        not_finite,
    )
    return first_slip(tests, outcome)


def moved(outcome: Outcome) -> Slip | None:
    """Right numbers in wrong places."""
    o = outcome
    everywhere = not o.untouched.any()
    return moved_slip(o.expected, o.values, o.sizes, o.tolerance, o.known, everywhere)


def indices(outcome: Outcome) -> Slip | None:
    """Wrong indices into A or B."""
    o = outcome
    return index_slip(o.A, o.B, o.values, o.sizes, o.tolerance, o.known)


def scaled_product(outcome: Outcome) -> Slip | None:
    """The same for a matrix product, where the factor may come in after the sum."""
    slip = shifted_or_scaled(outcome)
    return replace(slip, place=("scale", "sum")) if slip and slip.place == ("sum",) else slip


@trying
def other_formula(outcome: Outcome) -> Iterator[Hypothesis]:
    """Another way to combine A and B."""
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    K = A.shape[1]
    sums: list[tuple[str, Callable[[], Array]]] = [
        ("sums of A + B instead of sums of products", lambda: A.sum(1)[:, None] + B.sum(0)),
        ("sums of A - B instead of sums of products", lambda: A.sum(1)[:, None] - B.sum(0)),
        ("sums of B - A instead of sums of products", lambda: B.sum(0) - A.sum(1)[:, None]),
        ("sums over A alone", lambda: np.repeat(A.sum(1)[:, None], B.shape[1], 1)),
        ("sums over B alone", lambda: np.repeat(B.sum(0)[None], A.shape[0], 0)),
        ("sums of A / B instead of sums of products", lambda: A @ (1 / B)),
        ("sums of absolute products", lambda: np.abs(A) @ np.abs(B)),
        ("a mean: the sum divided by K", lambda: A @ B / K),
    ]
    for text, values in sums:
        yield _formula(text, values)
    if A.shape == B.shape:
        yield from _square_formulas(A, B)
    hint = "Which products take part in the sum, and which should?"
    for sign, factor in (("positive", 1), ("negative", -1)):
        message = say("C equals sums of the {sign} products alone.", sign=sign)
        alone = (A @ B + factor * np.abs(A) @ np.abs(B)) / 2
        yield Hypothesis(alone, "wrong-formula", message, hint, ("sum", "chosen"))


def _square_formulas(A: Array, B: Array) -> Iterator[Hypothesis]:
    """Another way to combine two matrices of the same size."""
    common = "Which index do A and B share?"
    for text, values in (
        ("B @ A instead of A @ B", B @ A),
        ("A.T @ B.T, which is (B @ A).T", A.T @ B.T),
    ):
        message = say("C equals {text}.", text=text)
        yield Hypothesis(values, "wrong-index", message, common, ("load", "A"))
    for taken, values, forgotten in (("A", A @ A, "B"), ("B", B @ B, "A")):
        message = say(
            "C equals {taken} @ {taken}: {forgotten} takes no part.",
            taken=taken,
            forgotten=forgotten,
        )
        hint = say("Where is {forgotten} read?", forgotten=forgotten)
        yield Hypothesis(values, "wrong-formula", message, hint, ("load", taken, "last"))
    yield _formula("A * B, element by element, without a sum", A * B)
    yield _formula("A + B, element by element", A + B)


def _formula(text: str, values: Array | Callable[[], Array]) -> Hypothesis:
    hint = "Say in words what one element of C is, then read the line that adds it up."
    message = say("C equals {text}.", text=text)
    return Hypothesis(values, "wrong-formula", message, hint, ("sum",))


def carried_over(outcome: Outcome) -> Slip | None:
    """A thread with several outputs takes the sum of the last one along."""
    extra = outcome.values - outcome.expected
    for axis, noun in ((0, "rows"), (1, "columns")):
        for gap in range(1, outcome.got.shape[axis]):
            later, earlier = (
                np.moveaxis(extra, axis, 0)[gap:],
                np.moveaxis(outcome.values, axis, 0)[:-gap],
            )
            room = np.moveaxis(outcome.tolerance, axis, 0)[gap:] * 2
            right = np.moveaxis(outcome.right, axis, 0)
            carried = np.abs(later - earlier) <= room
            if right[:gap].all() and (carried | right[gap:]).all() and carried.any():
                message = say(
                    "The sum of the element {gap} {noun} before is carried over into the next one.",
                    gap=gap,
                    noun=noun,
                )
                hint = "Where is the sum set to zero, and how often does a thread pass that line?"
                return Slip("accumulator-error", message, hint, ("start",))
    return None


@trying
def masked_operand(outcome: Outcome) -> Iterator[Hypothesis]:
    """A part of A or B was taken for zero: the test that guards its load is too strict."""
    sizes = outcome.sizes
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    for operand, matrix in (("A", A), ("B", B)):
        for axis, noun in ((0, "row"), (1, "column")):
            size = matrix.shape[axis]
            limits = {sizes.rows, sizes.columns, sizes.steps, size - 1, size - 2}
            for limit in sorted(each for each in limits if 0 <= each < size):
                cut = matrix.copy()
                np.moveaxis(cut, axis, 0)[limit:] = 0
                values = cut @ B if operand == "A" else A @ cut
                yield _masked(values, operand, noun, size - limit)


def _masked(values: Array, operand: str, noun: str, count: int) -> Hypothesis:
    which = at_end("last", count, noun)
    message = say(
        "Right, if {which} of {operand} were zero: the test before that load is too strict.",
        which=which,
        operand=operand,
    )
    hint = say(
        "Which size belongs to the {noun} of {operand}: M, N or K?", noun=noun, operand=operand
    )
    return Hypothesis(values, "wrong-bounds-check", message, hint, ("guard", operand))
