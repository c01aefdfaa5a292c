"""Wrong numbers: where they are wrong, and what they equal instead.

The functions here see only arrays: the inputs, the output that was expected and the output that
came out. They try the usual slips, from those that explain the whole output to those that explain
a part, and accept a slip only when it reproduces the numbers. Which line is to blame is found
elsewhere, afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from course_lib.diagnosis.slips import Geometry, Slip, index_slip, moved_slip

Array = np.ndarray


@dataclass(frozen=True)
class Outcome:
    """What came out of one launch, beside what should have.

    Attributes:
        A, B: the inputs.
        expected: the right output, in float64.
        got: the output, float32 as the kernel left it.
        tolerance: how far each element may be off because of rounding.
        sizes: the problem and the tiles.
        poison: what the output held before the launch.
    """

    A: Array
    B: Array
    expected: Array
    got: Array
    tolerance: Array
    sizes: Geometry
    poison: float

    @cached_property
    def right(self) -> Array:
        """Which elements are right; not-a-number never is."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.abs(self.got.astype(np.float64) - self.expected) <= self.tolerance

    @cached_property
    def untouched(self) -> Array:
        """Which elements still hold the poison, to the last bit."""
        if np.isnan(self.poison):
            return np.isnan(self.got)
        return self.got == np.float32(self.poison)

    @cached_property
    def known(self) -> Array:
        """Which elements can be explained at all: written, and numbers."""
        return np.isfinite(self.got) & ~self.untouched

    @cached_property
    def values(self) -> Array:
        return self.got.astype(np.float64)

    def matches(self, values: object, share: float = 1.0) -> bool:
        """Are these the numbers that came out (wherever any came out)?"""
        with np.errstate(invalid="ignore", over="ignore"):
            room = 2 * self.tolerance + 4e-7 * np.abs(self.values)
            close = np.abs(np.asarray(values) - self.values) <= room
        return bool(self.known.any() and np.mean(close[self.known]) >= share)


# --- where --------------------------------------------------------------------------------------


def where(mask: Array, sizes: Geometry) -> str:
    """A phrase for the elements in a mask: "the last row", "every block but (0, 0)"."""
    count = int(mask.sum())
    if count == mask.size:
        return "every element"
    if count == 1:
        i, j = np.argwhere(mask)[0]
        return f"element [{i}, {j}]"
    full_rows, full_columns = np.asarray(mask.all(axis=1)), np.asarray(mask.all(axis=0))
    bands = (full_rows[:, None] | full_columns).sum() == count
    if bands and not full_columns.any():
        return _lines(full_rows, "row")
    if bands and not full_rows.any():
        return _lines(full_columns, "column")
    blocks = _blocks(mask, sizes)
    if bands and not blocks.startswith(("block", "every")):
        return f"{_lines(full_rows, 'row')} and {_lines(full_columns, 'column')}"
    return blocks or _box(mask) or _scattered(mask, count)


def _lines(chosen: Array, noun: str) -> str:
    """A phrase for some rows or columns."""
    places = np.flatnonzero(chosen)
    first, last, count = int(places[0]), int(places[-1]), len(places)
    if count == last - first + 1:
        if last == len(chosen) - 1 and first > 0:
            return f"the last {noun}" if count == 1 else f"the last {count} {noun}s"
        if count == 1:
            return f"{noun} {first}"
        return f"{noun}s {first} to {last}"
    if count == len(chosen) - 1:
        return f"every {noun} but {int(np.flatnonzero(~chosen)[0])}"
    if np.all(np.diff(places) == 2):
        return f"every second {noun}"
    return f"{count} of the {noun}s, the first of them {noun} {first}"


def _blocks(mask: Array, sizes: Geometry) -> str:
    """A phrase if whole blocks of C are concerned: "every block but (0, 0)"."""
    high, wide = sizes.tile_rows, sizes.tile_columns
    if mask.shape[0] <= high and mask.shape[1] <= wide:
        return ""
    full = []
    for top in range(0, mask.shape[0], high):
        for left in range(0, mask.shape[1], wide):
            part = mask[top : top + high, left : left + wide]
            if part.any() and not part.all():
                return ""
            full.append((bool(part.all()), (left // wide, top // high)))
    inside = [place for is_full, place in full if is_full]
    outside = [place for is_full, place in full if not is_full]
    if len(inside) == 1:
        return f"block {inside[0]}"
    if len(outside) == 1:
        return f"every block but {outside[0]}"
    return f"{len(inside)} of {len(full)} blocks, the first of them block {inside[0]}"


def _box(mask: Array) -> str:
    """A phrase if the mask is a rectangle."""
    if mask.sum() != mask.any(axis=1).sum() * mask.any(axis=0).sum():
        return ""
    rows, columns = np.asarray(mask.any(axis=1)), np.asarray(mask.any(axis=0))
    return f"{_lines(rows, 'row')} of {_lines(columns, 'column')}"


def _scattered(mask: Array, count: int) -> str:
    i, j = np.argwhere(mask)[0]
    return f"{count} of {mask.size} elements, the first at [{i}, {j}]"


def by_how_much(outcome: Outcome) -> str:
    """One example of a wrong element: "C[0, 3] is 1.5 and should be 2.25"."""
    wrong = ~outcome.right
    i, j = np.argwhere(wrong)[0]
    return f"C[{i}, {j}] is {outcome.values[i, j]:.4g} and should be {outcome.expected[i, j]:.4g}"


# --- what it equals instead ---------------------------------------------------------------------


def diagnose_matmul(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong matrix product, or None."""
    tests: tuple[Callable[[Outcome], Slip | None], ...] = (
        not_written,
        added_to_old,
        zero,
        moved,
        steps_wrong,
        whole_numbers,
        shifted_or_scaled,
        other_formula,
        carried_over,
        masked_operand,
        indices,
        not_finite,
    )
    return _first(tests, outcome)


def diagnose_add(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong sum of two matrices, or None."""
    tests = (
        not_written,
        added_to_old,
        moved,
        whole_numbers,
        other_sum,
        shifted_or_scaled,
        moved_operand,
        not_finite,
    )
    return _first(tests, outcome)


def _first(tests: tuple[Callable[[Outcome], Slip | None], ...], outcome: Outcome) -> Slip | None:
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
        message = "C was never written: every element still holds what was there before the launch."
        return Slip(
            "incomplete-output", message, "Does any thread get as far as the store?", ("store",)
        )
    sizes = outcome.sizes
    place = where(untouched, sizes)
    message = f"What was written is right, but a part of C was never written: {place}."
    edge = ("edge",) if place.startswith("the last") else ()
    hint = "Which thread should write there, and what keeps it away?"
    return Slip("incomplete-output", message, hint, ("store", "missing", *edge))


def added_to_old(outcome: Outcome) -> Slip | None:
    """C += ... instead of C = ...: the old contents take part."""
    if np.isnan(outcome.poison) or not outcome.poison:
        return None
    extra = outcome.values - outcome.expected
    share = np.abs(extra - outcome.poison) <= 2 * outcome.tolerance + 1e-5 * abs(outcome.poison)
    if not share.any() or not (share | outcome.right).all() or outcome.right.mean() > 0.9:
        return None
    message = "The old contents of C take part in the sum: C is read before it was written."
    return Slip(
        "uninitialised-read", message, "What does C hold when the kernel starts?", ("load", "C")
    )


def not_finite(outcome: Outcome) -> Slip | None:
    """Infinities, or not-a-number, out of ordinary inputs."""
    odd = ~np.isfinite(outcome.got) & ~outcome.untouched
    if not odd.any():
        return None
    i, j = np.argwhere(odd)[0]
    message = (
        f"C[{i}, {j}] is {outcome.values[i, j]} although A and B hold ordinary numbers: a value "
        "grew past its type, or something was divided by zero."
    )
    return Slip("numerical-overflow", message, "Which step can make a number that large?", ("sum",))


def zero(outcome: Outcome) -> Slip | None:
    """Nothing but zeros."""
    if outcome.values.any():
        return None
    hint = "Does any product reach the sum, and does the sum reach C?"
    return Slip("accumulator-error", "C is zero everywhere: nothing was added up.", hint, ("sum",))


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
    hint = "Which variable, cast or array has an integer type?"
    for cut, verb in ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded")):
        for text, values in _cut_variants(outcome, cut):
            if outcome.matches(values):
                message = f"C equals the right formula with the fractions {verb} {text}."
                return Slip("integer-arithmetic", message, hint, ("integer",))
    return None


def _cut_variants(outcome: Outcome, cut: Callable[[Array], Array]) -> Iterator[tuple[str, Array]]:
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    yield "in the result", cut(outcome.expected)
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
        message = f"Every sum is too large by {start}: it starts there instead of at zero."
        return Slip(
            "accumulator-error", message, "What is the sum before the first step?", ("start",)
        )
    if abs(extra) > 1e-3 and outcome.matches(outcome.expected + extra):
        message = f"Every number is too large by {extra:.4g}: the sum does not start at zero."
        if outcome.sizes.steps == 0:
            message = f"Every number is off by {extra:.4g}, the same everywhere."
            return Slip("wrong-formula", message, "Which constant is added?", ("store",))
        return Slip(
            "accumulator-error", message, "What is the sum before the first step?", ("start",)
        )
    if abs(factor - 1) > 1e-3 and outcome.matches(outcome.expected * factor):
        if factor > 1.5 and abs(factor - round(factor)) < 1e-4:
            times = round(factor)
            message = f"Every number is {times} times too large: every term is added {times} times."
            return Slip(
                "accumulator-error", message, "How often does each term reach the sum?", ("sum",)
            )
        message = f"Every number is {factor:.4g} times the right one."
        return Slip(
            "wrong-formula", message, "Compare the line that stores C with the formula.", ("scale",)
        )
    return None


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
    candidates: list[tuple[str, Callable[[], Array]]] = [
        ("sums of A + B instead of sums of products", lambda: A.sum(1)[:, None] + B.sum(0)),
        ("sums of A - B instead of sums of products", lambda: A.sum(1)[:, None] - B.sum(0)),
        ("sums of B - A instead of sums of products", lambda: B.sum(0) - A.sum(1)[:, None]),
        ("sums over A alone", lambda: np.repeat(A.sum(1)[:, None], B.shape[1], 1)),
        ("sums over B alone", lambda: np.repeat(B.sum(0)[None], A.shape[0], 0)),
        ("sums of A / B instead of sums of products", lambda: A @ (1 / B)),
        ("sums of absolute products", lambda: np.abs(A) @ np.abs(B)),
        ("a mean: the sum divided by K", lambda: A @ B / K),
    ]
    if A.shape == B.shape:
        candidates += [
            ("B @ A instead of A @ B", lambda: B @ A),
            ("A @ A", lambda: A @ A),
            ("B @ B", lambda: B @ B),
            ("A.T @ B.T, which is (B @ A).T", lambda: A.T @ B.T),
            ("A * B, element by element, without a sum", lambda: A * B),
            ("A + B, element by element", lambda: A + B),
        ]
    for text, values in candidates:
        if outcome.matches(values()):
            return _formula_slip(text)
    return None


def _formula_slip(text: str) -> Slip:
    hint = "Say in words what one element of C is, then read the line that adds it up."
    if text.startswith(("B @ A", "A.T")):
        return Slip(
            "wrong-index", f"C equals {text}.", "Which index do A and B share?", ("load", "A")
        )
    if text in ("A @ A", "B @ B"):
        forgotten = "B" if text == "A @ A" else "A"
        hint = f"Where is {forgotten} read?"
        return Slip(
            "wrong-formula",
            f"C equals {text}: {forgotten} takes no part.",
            hint,
            ("load", text[0], "last"),
        )
    return Slip("wrong-formula", f"C equals {text}.", hint, ("sum",))


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
                message = (
                    f"The sum of the element {gap} {noun} before is carried over into the next one."
                )
                hint = "Where is the sum set to zero, and how often does a thread pass that line?"
                return Slip("accumulator-error", message, hint, ("start",))
    return None


# --- steps of k ---------------------------------------------------------------------------------


def step_weights(outcome: Outcome) -> Array | None:
    """How often each step of k entered the sums, if that alone explains the numbers."""
    A, B, known = outcome.A.astype(np.float64), outcome.B.astype(np.float64), outcome.known
    if known.sum() < outcome.sizes.steps:
        return None
    terms = (A[:, None, :] * B.T[None, :, :])[known]
    values = outcome.values[known]
    # A few elements per step settle the weights; all of them have to agree with the result.
    few = np.random.default_rng(2).permutation(len(values))[: 3 * outcome.sizes.steps + 16]
    weights, *_ = np.linalg.lstsq(terms[few], values[few], rcond=None)
    misses = np.abs(terms @ weights - values)
    if misses.max() > 2 * outcome.tolerance.max():
        return None
    rounded = np.rint(weights)
    return rounded if np.abs(weights - rounded).max() < 1e-2 else None


def steps_wrong(outcome: Outcome) -> Slip | None:
    """Steps left out or counted several times."""
    weights = step_weights(outcome)
    if weights is None or (weights == weights[0]).all():
        return None  # the same for all steps: a factor, told elsewhere
    sizes = outcome.sizes
    if (weights == 0).sum() + (weights == 1).sum() == len(weights):
        return _left_out(weights == 0, sizes)
    return _counted_often(weights, sizes)


def _left_out(missing: Array, sizes: Geometry) -> Slip:
    """Some steps of k never enter the sum."""
    K, T = sizes.steps, sizes.step_tile
    tiled = sizes.tile_steps is not None
    gone = np.flatnonzero(missing)
    last_tile = (sizes.tiles - 1) * T
    kept = np.flatnonzero(~missing)
    steps = tuple(map(int, gone))
    start_hint = "How many times does the loop run, and what happens to the sum on the way?"
    if len(kept) == 1 and kept[0] == K - 1:
        message = "Only the last product counts: each one replaces the sum instead of being added."
        return Slip("accumulator-error", message, start_hint, ("sum",))
    if tiled and np.array_equal(kept, np.arange(last_tile, K)) and sizes.tiles > 1:
        message = "Only the last tile counts: the sum starts again with every tile."
        return Slip("accumulator-error", message, start_hint, ("start",))
    if tiled and sizes.tiles > 1 and np.array_equal(kept % T, np.full(len(kept), T - 1)):
        message = "Of every tile only the last product counts: the others are replaced, not added."
        return Slip("accumulator-error", message, start_hint, ("sum",))
    hint = "For which k does the loop run first, and for which last?"
    if tiled and np.array_equal(gone, np.arange(K - K % T, K)) and K % T:
        message = (
            f"Right except the last {_steps(len(gone))} of k: the partial tile is left out "
            f"(K = {K}, which is {K // T} whole tile{'s' * (K // T != 1)} of {T} and {K % T} more)."
        )
        hint = f"How many tiles does the loop visit when K = {K}?"
        return Slip("wrong-loop-bound", message, hint, ("steps", "tiles"), steps)
    if tiled and np.array_equal(gone, np.arange(last_tile, K)):
        message = f"Right except the last {_steps(len(gone))} of k: the last tile is left out."
        return Slip("wrong-loop-bound", message, hint, ("steps", "tiles"), steps)
    if tiled and np.array_equal(gone, np.arange(min(T, K))):
        message = f"Right except the first {_steps(len(gone))} of k: the first tile is left out."
        return Slip("wrong-loop-bound", message, hint, ("steps", "tiles"), steps)
    inner = _same_in_every_tile(missing, sizes)
    if tiled and inner:
        message = f"Right except {inner} of every tile, which is left out of the sum."
        return Slip("wrong-loop-bound", message, hint, ("steps", "inner"), steps)
    if len(kept) <= len(gone):
        message = f"Only {_span(kept, K)} of k take part in the sum."
        return Slip("wrong-loop-bound", message, hint, ("steps",), steps)
    which = _span(gone, K)
    message = f"Right except {which} of k, which {'is' if len(gone) == 1 else 'are'} left out."
    return Slip("wrong-loop-bound", message, hint, ("steps",), steps)


def tiles_slip(slip: Slip, outcomes: Sequence[Outcome]) -> Slip:
    """The slip for missing tiles, with the size that the loop follows instead of K, if it does."""
    run = {}
    for outcome in outcomes:
        with np.errstate(all="ignore"):
            weights = step_weights(outcome)
        if weights is not None:
            T = outcome.sizes.step_tile
            run[outcome.sizes] = -(-int((weights == 1).sum()) // T) if weights.any() else 0
    if len(run) < 2 or all(count == size.steps // size.step_tile for size, count in run.items()):
        return slip
    for name, size_of in (("M", "rows"), ("N", "columns")):
        follows = [-(-getattr(size, size_of) // size.step_tile) for size in run]
        if follows == list(run.values()):
            noun = "rows of A" if name == "M" else "columns of B"
            message = f"The loop visits as many tiles as {name} (the {noun}) has, and not K."
            return replace(slip, message=message, hint="Along which of the sizes does the sum run?")
    return slip


def _same_in_every_tile(missing: Array, sizes: Geometry) -> str:
    """ "the last step", if the same steps are missing in each tile, else ""."""
    T = sizes.step_tile
    padded = np.zeros(sizes.tiles * T, bool)
    padded[: len(missing)] = missing
    per_tile = padded.reshape(-1, T)
    whole = per_tile[: sizes.steps // T]
    if len(whole) < 2 or not (whole == whole[0]).all() or not whole[0].any():
        return ""
    return _span(np.flatnonzero(whole[0]), T)


def _span(gone: Array, total: int) -> str:
    first, last, count = int(gone[0]), int(gone[-1]), len(gone)
    if count == last - first + 1:
        if last == total - 1:
            return "the last step" if count == 1 else f"the last {count} steps"
        if first == 0:
            return "the first step" if count == 1 else f"the first {count} steps"
        return f"step {first}" if count == 1 else f"steps {first} to {last}"
    if count > 1 and len(set(np.diff(gone))) == 1 and np.diff(gone)[0] == 2:
        return "every second step"
    return f"{count} of {total} steps (the first of them step {first})"


def _steps(count: int) -> str:
    return "step" if count == 1 else f"{count} steps"


def _counted_often(weights: Array, sizes: Geometry) -> Slip:
    """Some steps enter the sum several times."""
    T = sizes.step_tile
    tiled = sizes.tile_steps is not None
    if tiled and sizes.tiles > 1 and (weights[:T] >= 2).any() and not weights[T:].any():
        message = "Every tile of the sum is the first one again: the offset of the tile is missing."
        hint = "Which part of the index changes from one tile to the next?"
        return Slip("wrong-index", message, hint, ("load", "A", "column"))
    often = np.flatnonzero(weights > 1)
    filled = sizes.steps % T  # of the last tile
    stale = np.arange((sizes.tiles - 2) * T + filled, (sizes.tiles - 1) * T)
    if tiled and filled and sizes.tiles > 1 and np.array_equal(often, stale):
        message = (
            f"{_span(often, len(weights)).capitalize()} of k count twice: where the last tile has "
            "no element, the value of the tile before it is still there."
        )
        hint = "What should a thread put into the tile when it stands outside of A or B?"
        return Slip("stale-shared-read", message, hint, ("sum",))
    if not len(often):
        message = "Some terms are subtracted instead of added."
        return Slip("wrong-formula", message, "Read the line that adds up.", ("sum",))
    by_tile = [set(weights[start : start + T]) for start in range(0, len(weights), T)]
    if tiled and all(len(values) == 1 for values in by_tile):
        message = "The tiles count differently: earlier tiles enter the sum more than once."
        return Slip(
            "accumulator-error", message, "What is added to what after each tile?", ("sum",)
        )
    padding = sizes.tiles * T - sizes.steps
    if tiled and padding and list(often) == [sizes.steps - 1] and weights[-1] == padding + 1:
        message = (
            f"The last step of k counts {padding + 1} times: past the edge the last element is "
            "repeated, instead of counting as zero."
        )
        hint = "What should a thread put into the tile when it stands outside of A or B?"
        return Slip("missing-mask", message, hint, ("load", "A"))
    if not weights.all():
        shown = ", ".join(f"{weight:.0f}" for weight in weights[:6])
        message = f"The steps of k do not count alike: they enter the sum {shown}, … times."
        return Slip("wrong-formula", message, "Read the line that adds up.", ("sum",))
    message = f"{_span(often, len(weights)).capitalize()} of k enter the sum more than once."
    hint = "How often does the loop pass each step of k?"
    return Slip("wrong-loop-bound", message, hint, ("steps",), tuple(map(int, often)))


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
    message = f"Right, if {which} of {operand} were zero: the test before that load is too strict."
    hint = f"Which size belongs to the {noun} of {operand}: M, N or K?"
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
        "zero everywhere": 0 * A,
        "the larger of the two": np.maximum(A, B),
        "the smaller of the two": np.minimum(A, B),
        "the mean of the two": (A + B) / 2,
    }
    if A.shape[0] == A.shape[1]:
        candidates["A @ B, a matrix product"] = A @ B
    for text, values in candidates.items():
        if outcome.matches(values):
            message = f"C equals {text}."
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
        )
        if slip:
            text = slip.message.replace("C holds the right numbers", f"{operand} takes part")
            text = text.replace("Every block holds the numbers", f"Every block adds the {operand}")
            for noun in ("row of A", "column of B"):
                text = text.replace(noun, f"{noun.split()[0]} of {operand}")
            return Slip("wrong-index", text, slip.hint, ("load", operand))
    return None
