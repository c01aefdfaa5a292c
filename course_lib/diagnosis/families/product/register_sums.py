"""Wrong products by threads with several sums: sums that got mixed up, or stay empty."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.diagnosis.families.hypotheses import Array
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say


def within_threads(outcome: Outcome) -> Iterator[tuple[str, Array, int]]:
    """For rows and for columns: the number of each element within a thread's part, and its size."""
    rows, columns = np.asarray(np.indices(outcome.got.shape))
    sizes = outcome.sizes
    for noun, places, part in (
        ("row", rows, sizes.thread_rows),
        ("column", columns, sizes.thread_columns),
    ):
        if part > 1 and outcome.got.shape[noun == "column"] % part == 0:
            yield noun, places % part, part


# --- sums that got mixed up ---------------------------------------------------------------------


def one_sum(outcome: Outcome) -> Slip | None:
    """The sums of a thread's rows (or columns, or both) run into a single one."""
    high, wide = _parts(outcome)
    for down, across in {(high, 1), (1, wide), (high, wide)} - {(1, 1)}:
        if outcome.matches(_repeat(pool(outcome.expected, down, across), down, across)):
            number = down * across
            message = say(
                "C holds, in {several} alike, what {number} elements should hold together: "
                "{number} sums of a thread are one.",
                several=_several(down, across),
                number=number,
            )
            hint = "How many sums does a thread have to keep apart, and in how many places?"
            return Slip("accumulator-error", message, hint, ("sum",))
    return None


def shared_sums(outcome: Outcome) -> Slip | None:
    """Several elements hold one number, and it is what belongs into them together."""
    wrong = ~outcome.right & outcome.known
    if not wrong.any():
        return None
    values, groups, sizes = np.unique(outcome.got[wrong], return_inverse=True, return_counts=True)
    together = np.bincount(groups, weights=outcome.expected[wrong])
    room = 2 * outcome.tolerance[wrong].max() * sizes
    if (sizes < 2).any() or (np.abs(together - values) > room).any():
        return None
    places = np.argwhere(wrong)
    (p, q), (i, j) = places[groups == groups[0]][:2]
    message = say(
        "C[{p}, {q}] and C[{i}, {j}] hold the same number: what belongs into each of them ran "
        "into one sum.",
        p=p,
        q=q,
        i=i,
        j=j,
    )
    hint = "How many sums does a thread have to keep apart, and in how many places?"
    return Slip("accumulator-error", message, hint, ("sum",))


def sums_by_step(outcome: Outcome) -> Slip | None:
    """The sums are told apart by the step of k, and not by the element that they belong to."""
    high, wide = _parts(outcome)
    step = outcome.sizes.step_tile
    rows, columns = outcome.got.shape
    for axis, part, noun in ((0, high, "row"), (1, wide, "column")):
        if part < 2 or outcome.sizes.steps % step:
            continue
        # By step within the tile: (steps, rows, columns), each summed over all tiles.
        A = outcome.A.astype(np.float64).reshape(rows, -1, step)
        B = outcome.B.astype(np.float64).reshape(-1, step, columns)
        by_step = np.einsum("its,tsj->sij", A, B)
        down, across = (part, 1) if axis == 0 else (1, part)
        pooled = np.stack([_repeat(pool(each, down, across), down, across) for each in by_step])
        within = np.indices(outcome.got.shape)[axis] % part
        meant = sum(np.where(within == k % part, each, 0) for k, each in enumerate(pooled))
        if outcome.matches(meant):
            message = say(
                "The {noun}s of a thread's part hold one step of k each: the sums are numbered by "
                "the step, and not by the {noun}.",
                noun=noun,
            )
            hint = "Which index says to which element of C a product belongs?"
            return Slip("accumulator-error", message, hint, ("sum",))
    return None


def empty_sums(outcome: Outcome) -> Slip | None:
    """Some of a thread's sums stay at zero, and all others are right."""
    wrong = ~outcome.right
    if not outcome.right.any() or outcome.values[wrong].any():
        return None
    for noun, within, part in within_threads(outcome):
        empty = [each for each in range(part) if wrong[within == each].all()]
        if empty and np.array_equal(wrong, np.isin(within, empty)):
            message = say(
                "Of every {part} {noun}s of a thread, {busy} are right, and C is zero in the "
                "others: nothing is ever added to their sums.",
                part=part,
                noun=noun,
                busy=part - len(empty),
            )
            hint = say("Over how many {noun}s does the loop run that adds the products?", noun=noun)
            return Slip("wrong-loop-bound", message, hint, ("tiles", "sums"))
    return None


def same_tile_twice(outcome: Outcome) -> Slip | None:
    """Both factors come from one tile, or from the numbers of one tile that a thread keeps."""
    sizes, (rows, columns) = outcome.sizes, outcome.got.shape
    high, wide = sizes.tile_rows, sizes.tile_columns
    if high != wide or rows % high or rows != columns:
        return None
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    i, j = np.asarray(np.indices(outcome.got.shape))
    for tile, other, values in (("A", "B", A @ A.T), ("B", "A", B.T @ B)):
        hint = say(
            "Which of the two numbers that a thread multiplies should come from {other}?",
            other=other,
        )
        if outcome.matches(_with_own(values, i, j, high, tile)):
            message = say(
                "Both factors come from the tile of {tile}; the tile of {other} has no part.",
                tile=tile,
                other=other,
            )
            return Slip("wrong-index", message, hint, ("part", "twice", tile))
        part = sizes.thread_rows
        if part == sizes.thread_columns and outcome.matches(_with_own(values, i, j, part, tile)):
            message = say(
                "Both factors are a thread's own numbers of {tile}; {other} has no part.",
                tile=tile,
                other=other,
            )
            return Slip("wrong-index", message, hint, ("sum",))
    return None


def _with_own(values: Array, i: Array, j: Array, size: int, tile: str) -> Array:
    """Products of rows of A (or columns of B) with rows of the same tile, of this size."""
    if tile == "A":
        result: Array = values[i, i - i % size + j % size]
        return result
    result = values[j - j % size + i % size, j]
    return result


def _parts(outcome: Outcome) -> tuple[int, int]:
    """Rows and columns of a thread's part; 1 where C isn't made of whole parts."""
    sizes, (rows, columns) = outcome.sizes, outcome.got.shape
    high = sizes.thread_rows if rows % sizes.thread_rows == 0 else 1
    return high, sizes.thread_columns if columns % sizes.thread_columns == 0 else 1


def pool(values: Array, down: int, across: int) -> Array:
    """Sums of parts of so many rows and columns."""
    rows, columns = values.shape
    result: Array = values.reshape(rows // down, down, columns // across, across).sum(axis=(1, 3))
    return result


def _repeat(values: Array, down: int, across: int) -> Array:
    return values.repeat(down, axis=0).repeat(across, axis=1)


def _several(down: int, across: int) -> str:
    rows, columns = f"{down} rows", f"{across} columns"
    return rows if across == 1 else columns if down == 1 else f"{rows} and {columns}"
