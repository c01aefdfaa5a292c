"""Wrong numbers: what they equal instead.

The functions here see only arrays: the inputs, the output that was expected and the output that
came out. They try the usual slips, from those that explain the whole output to those that explain
a part, and accept a slip only when it reproduces the numbers. Which line is to blame is found
elsewhere, afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.families.index_search import Slip, index_slip, moved_slip
from course_lib.diagnosis.families.pitch import pitch_slip
from course_lib.diagnosis.families.steps import steps_wrong
from course_lib.diagnosis.launches.outcome import Outcome, Part, by_how_much, where, zero_place
from course_lib.sentences import Sentence, say

Array = np.ndarray
MOST_TIMES = 1025  # that a term may be added by mistake, once by each thread of a block


def diagnose_matmul(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong matrix product, or None."""
    tests: tuple[Callable[[Outcome], Slip | None], ...] = (
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


def first_slip(
    tests: tuple[Callable[[Outcome], Slip | None], ...], outcome: Outcome
) -> Slip | None:
    """The first of the tests that explains a wrong output."""
    if outcome.right.all():
        return None
    if outcome.known.any() and outcome.right[outcome.known].all():
        return not_written(outcome)
    with np.errstate(all="ignore"):
        for test in tests:
            slip = test(outcome)
            if slip:
                return slip
    return None


def not_written(outcome: Outcome) -> Slip | None:
    """Elements that no thread wrote, while those that were written are right."""
    untouched = outcome.untouched
    if not untouched.any() or not outcome.right[~untouched].all():
        return None
    if np.isnan(outcome.poison):
        return None  # a not-a-number may also have been computed; another poison tells
    if untouched.all():
        message = say(
            "{array} was never written: every element still holds what was there before the "
            "launch.",
            array=outcome.output,
        )
        return Slip(
            "incomplete-output",
            message,
            "Does any thread get as far as the store?",
            ("store", "missing"),
        )
    sizes, C = outcome.sizes, outcome.output
    zeros = zero_place(outcome, untouched)
    place = zeros or where(untouched, sizes)
    message = say(
        "What was written is right, but a part of {array} was never written: {place}.",
        array=C,
        place=place,
    )
    nouns = [
        noun
        for axis, noun in enumerate(("row", "column")[: untouched.ndim])
        if untouched.all(axis=tuple({*range(untouched.ndim)} - {axis})).any()
    ]
    edge = ("edge", *nouns) if isinstance(place, Part) and place.at_end else ()
    hint = "Which thread should write there, and what keeps it away?"
    return Slip("incomplete-output", message, hint, ("store", "missing", *edge))


def at_zeros(outcome: Outcome) -> Slip | None:
    """Right, but for the elements to which an exact zero of an input belongs."""
    place = zero_place(outcome, ~outcome.right)
    if place is None:
        return None
    message = say("Right but {place}.", place=place)
    hint = say(
        "What does each line make of an element of {letter} that is exactly 0?", letter=place.letter
    )
    values = f"{by_how_much(outcome)}."
    return Slip("wrong-formula", message, hint, ("zero", place.letter), values=values)


def added_to_old(outcome: Outcome) -> Slip | None:
    """C += ... instead of C = ...: the old contents take part."""
    if np.isnan(outcome.poison) or not outcome.poison:
        return None
    extra = outcome.values - outcome.expected
    share = np.abs(extra - outcome.poison) <= 2 * outcome.tolerance + 1e-5 * abs(outcome.poison)
    if not share.any() or not (share | outcome.right).all() or outcome.right.mean() > 0.9:
        return None
    C = outcome.output
    message = say(
        "The old contents of {array} take part in the sum: {array} is read before it was written.",
        array=C,
    )
    hint = say("What does {array} hold when the kernel starts?", array=C)
    return Slip("uninitialised-read", message, hint, ("load", C))


def not_finite(outcome: Outcome) -> Slip | None:
    """Infinities, or not-a-number, out of ordinary inputs."""
    odd = ~np.isfinite(outcome.got) & ~outcome.untouched
    if not odd.any():
        return None
    at = tuple(int(index) for index in np.argwhere(odd)[0])
    name = f"{outcome.output}[{', '.join(map(str, at))}]"
    value = float(outcome.values[at])
    if np.isnan(value):
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a step had no number to "
            "give, as 0 / 0, ∞ / ∞ and ∞ − ∞ have none."
        )
        hint = "Which step can meet an infinity, or divide 0 by 0?"
    elif value < 0:
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a value grew past its "
            "type, was divided by zero, or is the logarithm of 0."
        )
        hint = "Which step can give −∞? Has anything been added up before it?"
    else:
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a value grew past its "
            "type, or something was divided by zero."
        )
        hint = "Which step can make a number that large?"
    message = say(template, name=name, value=outcome.values[at], operands=outcome.operands)
    return Slip("numerical-overflow", message, hint, ("sum",))


def zero(outcome: Outcome) -> Slip | None:
    """Nothing but zeros."""
    if outcome.values.any():
        return None
    C = outcome.output
    hint = say("Does any number reach the sum, and does the sum reach {array}?", array=C)
    return Slip(
        "accumulator-error",
        say("{array} is zero everywhere: nothing was added up.", array=C),
        hint,
        ("sum", "nothing"),
    )


def moved(outcome: Outcome) -> Slip | None:
    """Right numbers in wrong places."""
    o = outcome
    everywhere = not o.untouched.any()
    return moved_slip(o.expected, o.values, o.sizes, o.tolerance, o.known, everywhere)


def indices(outcome: Outcome) -> Slip | None:
    """Wrong indices into A or B."""
    o = outcome
    return index_slip(o.A, o.B, o.values, o.sizes, o.tolerance, o.known)


def whole_numbers(outcome: Outcome) -> Slip | None:
    """Fractions cut off: of the inputs, of the products, of the running sum or of the result."""
    hint = "Which `//`, cast, variable or array makes whole numbers here?"
    for cut, verb in ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded")):
        for text, values in _cut_variants(outcome, cut):
            if outcome.matches(values):
                message = say(
                    "{array} equals the right formula with the fractions {verb} {text}.",
                    array=outcome.output,
                    verb=verb,
                    text=text,
                )
                return Slip("integer-arithmetic", message, hint, ("integer",))
    return None


def _cut_variants(outcome: Outcome, cut: Callable[[Array], Array]) -> Iterator[tuple[str, Array]]:
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    yield "in the result", cut(outcome.expected)
    if len(outcome.inputs) == 1:
        return
    if outcome.sizes.steps == 0:  # a sum of matrices, not a product
        yield "in A and B", cut(A) + cut(B)
        yield "in A", cut(A) + B
        yield "in B", A + cut(B)
        return
    yield "in A and B", cut(A) @ cut(B)
    yield "in A", cut(A) @ B
    yield "in B", A @ cut(B)
    yield "in every product", cut(A[:, :, None] * B[None]).sum(axis=1)
    running = np.zeros(outcome.expected.shape)
    for k in range(A.shape[1]):
        running = cut(running + A[:, k : k + 1] * B[k])
    yield "in the running sum, at every step", running


def shifted_or_scaled(outcome: Outcome) -> Slip | None:
    """The right numbers plus a constant, or times a constant."""
    known = outcome.known
    if known.sum() < 4:
        return None
    extra = float(np.median((outcome.values - outcome.expected)[known]))
    factor = float(np.median((outcome.values / outcome.expected)[known]))
    start = _start_value(outcome)
    if start:
        message: str = say(
            "Every sum is too large by {start}: it starts there instead of at zero.", start=start
        )
        return Slip(
            "accumulator-error", message, "What is the sum before the first step?", ("start",)
        )
    if abs(extra) > 1e-3 and outcome.matches(outcome.expected + extra):
        sizes = outcome.sizes
        padding = sizes.tiles * sizes.step_tile - sizes.steps if sizes.tile_steps else 0
        if padding:  # where no cell is padded, nothing was wrong
            message = say(
                "Every number is off by the same amount: the {padding} steps past the end of K "
                "add to it, and should add nothing.",
                padding=padding,
            )
            values = f"Each of them adds {extra / padding:.4g}, together {extra:.4g}."
            hint = "What does a thread put into the tile when it stands outside of A or B?"
            return Slip("missing-mask", message, hint, ("padding",), values=values)
        values = f"It is {extra:.4g}."
        if outcome.sizes.steps == 0:
            message = "Every number is off by the same amount."
            hint = "Which constant is added?"
            return Slip("wrong-formula", message, hint, ("store",), values=values)
        message = "Every number is off by the same amount: the sum does not start at zero."
        hint = "What is the sum before the first step?"
        return Slip("accumulator-error", message, hint, ("start",), values=values)
    if abs(factor - 1) > 1e-3 and outcome.matches(outcome.expected * factor):
        if 1.5 < factor < MOST_TIMES and abs(factor - round(factor)) < 1e-4:
            times = round(factor)
            message = say("Every number is {times} times too large.", times=times)
            hint = "How often does each term reach the sum, and with which factor?"
            return Slip("accumulator-error", message, hint, ("sum",))
        said: Sentence | str = "Every number is the right one times a constant."
        values = f"The constant is {factor:.4g}."
        if abs(factor + 1) < 1e-4:
            said, values = "Every number has the wrong sign.", ""
        hint = say("Compare the line that stores {array} with the formula.", array=outcome.output)
        return Slip("wrong-formula", said, hint, ("scale",), values=values)
    return None


def scaled_product(outcome: Outcome) -> Slip | None:
    """The same for a matrix product, where the factor may come in after the sum."""
    slip = shifted_or_scaled(outcome)
    return replace(slip, place=("scale", "sum")) if slip and slip.place == ("sum",) else slip


def scaled_addition(outcome: Outcome) -> Slip | None:
    """The same where nothing is summed in a loop."""
    slip = shifted_or_scaled(outcome)
    if slip is None or slip.place != ("sum",):
        return slip
    hint = say("Compare the line that stores {array} with the formula.", array=outcome.output)
    return replace(slip, code="wrong-formula", hint=hint, place=("scale",))


def _start_value(outcome: Outcome) -> str:
    """An element of A or B that every sum starts with, if that is so."""
    if outcome.sizes.steps == 0:
        return ""
    for k in (0, outcome.sizes.steps - 1):
        if outcome.matches(outcome.expected + outcome.A[:, k : k + 1]):
            return f"A[row, {k}]"
        if outcome.matches(outcome.expected + outcome.B[k]):
            return f"B[{k}, column]"
    return ""


def other_formula(outcome: Outcome) -> Slip | None:
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
        if outcome.matches(values()):
            return _formula_slip(text)
    if A.shape == B.shape and (slip := _square_formula(outcome, A, B)):
        return slip
    for sign, factor in (("positive", 1), ("negative", -1)):
        if outcome.matches((A @ B + factor * np.abs(A) @ np.abs(B)) / 2):
            hint = "Which products take part in the sum, and which should?"
            text = say("C equals sums of the {sign} products alone.", sign=sign)
            return Slip("wrong-formula", text, hint, ("sum", "chosen"))
    return None


def _square_formula(outcome: Outcome, A: Array, B: Array) -> Slip | None:
    """Another way to combine two matrices of the same size."""
    others: tuple[tuple[str, Callable[[], Array]], ...] = (
        ("B @ A instead of A @ B", lambda: B @ A),
        ("A.T @ B.T, which is (B @ A).T", lambda: A.T @ B.T),
    )
    for text, values in others:
        if outcome.matches(values()):
            message = say("C equals {text}.", text=text)
            return Slip("wrong-index", message, "Which index do A and B share?", ("load", "A"))
    for taken, values, forgotten in (("A", lambda: A @ A, "B"), ("B", lambda: B @ B, "A")):
        if outcome.matches(values()):
            message = say(
                "C equals {taken} @ {taken}: {forgotten} takes no part.",
                taken=taken,
                forgotten=forgotten,
            )
            hint = say("Where is {forgotten} read?", forgotten=forgotten)
            return Slip("wrong-formula", message, hint, ("load", taken, "last"))
    for text, values in (
        ("A * B, element by element, without a sum", lambda: A * B),
        ("A + B, element by element", lambda: A + B),
    ):
        if outcome.matches(values()):
            return _formula_slip(text)
    return None


def _formula_slip(text: str) -> Slip:
    hint = "Say in words what one element of C is, then read the line that adds it up."
    return Slip("wrong-formula", say("C equals {text}.", text=text), hint, ("sum",))


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


def masked_operand(outcome: Outcome) -> Slip | None:
    """A part of A or B was taken for zero: the test that guards its load is too strict."""
    sizes = outcome.sizes
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    limits = {"M": sizes.rows, "N": sizes.columns, "K": sizes.steps}
    for operand, matrix in (("A", A), ("B", B)):
        for axis, noun in ((0, "row"), (1, "column")):
            size = matrix.shape[axis]
            names = {v: k for k, v in limits.items() if v < size}
            for limit in sorted({*names, size - 1, size - 2} - {size}):
                if not 0 <= limit < size:
                    continue
                cut = matrix.copy()
                cut[
                    (slice(limit, None), slice(None))
                    if axis == 0
                    else (slice(None), slice(limit, None))
                ] = 0
                if outcome.matches(cut @ B if operand == "A" else A @ cut):
                    return _mask_slip(operand, noun, size - limit)
    return None


def _mask_slip(operand: str, noun: str, count: int) -> Slip:
    which = f"the last {noun}" if count == 1 else f"the last {count} {noun}s"
    message = say(
        "Right, if {which} of {operand} were zero: the test before that load is too strict.",
        which=which,
        operand=operand,
    )
    hint = say(
        "Which size belongs to the {noun} of {operand}: M, N or K?", noun=noun, operand=operand
    )
    return Slip("wrong-bounds-check", message, hint, ("guard", operand))


# --- sums of two matrices -----------------------------------------------------------------------


def other_sum(outcome: Outcome) -> Slip | None:
    """Another formula than A + B."""
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    candidates = {
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
        candidates["A @ B, a matrix product"] = A @ B
    for text, values in candidates.items():
        if outcome.matches(values):
            message = say("C equals {text}.", text=text)
            return Slip(
                "wrong-formula", message, "Say in words what one element of C is.", ("store",)
            )
    return None


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
