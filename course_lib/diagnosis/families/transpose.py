"""Wrong transposes: which element of A stands where in B, and which slip puts it there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from course_lib.diagnosis.families.access_lines import load_place, shared_place, store_place
from course_lib.diagnosis.families.common import (
    added_to_old,
    at_zeros,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
    whole_numbers,
)
from course_lib.diagnosis.families.index_search import by_cost, taken, without_steps
from course_lib.diagnosis.families.mapping import block_steps
from course_lib.diagnosis.launches.outcome import Geometry, Outcome, where
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import Problem
from course_lib.diagnosis.slip import Evidence, Slip, SlipLocation
from course_lib.diagnosis.source.nodes import indices_of
from course_lib.sentences import say
from course_lib.words import joined

Array = np.ndarray
MOST = 0.9  # of the elements; the rest may be where indices leave the array
# What a kernel may take for a row or a column of A: the index as index_search calls it, and the
# text; i and j are row and column of B.
INDICES = {
    "j": "the column of B",
    "i": "the row of B",
    "tx": "the column within the tile, without the offset of the tile",
    "ty": "the row within the tile, without the offset of the tile",
    "left": "the same for the whole tile, without the offset of the thread",
    "top": "the same for the whole tile, without the offset of the thread",
    "left+ty": "right for the tile, but not within it",
    "top+tx": "right for the tile, but not within it",
    "j+1": "one too large",
    "j-1": "one too small",
    "i+1": "one too large",
    "i-1": "one too small",
    "0": "always 0",
}
NEXT = {"j+1", "j-1", "i+1", "i-1"}
RIGHT = ("j", "i")  # what belongs into the row and the column of A

# Slips with both indices at once: (row of A, column of A) -> message, hint, place.
NAMED: dict[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {
    ("i", "j"): (
        "B equals A: nothing is transposed.",
        "Take thread (1, 0) of block (0, 0): which element does it read, and where should it go?",
        ("store", "index", "row"),
    ),
    ("top+tx", "left+ty"): (
        "Every tile is transposed, but it stays in its place: the tiles have to change places too.",
        "Block (1, 0) brings the second tile in a row of A. Where in B does it belong?",
        ("store", "index", "row"),
    ),
    ("left+ty", "top+tx"): (
        "The tiles change places, but within each tile nothing is transposed.",
        "Which cell of the tile does thread (1, 0) fill, and which one should it take out?",
        ("shared", "A"),
    ),
    ("tx", "ty"): (
        "Every tile of B holds the numbers of tile (0, 0) of A: the offset of the block is missing "
        "where A is read.",
        "Which element of A does thread (0, 0) of block (1, 0) need?",
        ("load", "A"),
    ),
    ("ty", "tx"): (
        "Every tile of B equals the first tile of A: nothing is transposed, and the offset of the "
        "block is missing where A is read.",
        "Which element of A does thread (1, 0) of block (1, 0) need?",
        ("load", "A"),
    ),
}


def diagnose_transpose(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong transpose, or None."""
    if outcome.right.all():
        return None
    tests = (
        not_written,
        at_zeros,
        added_to_old,
        all_zero,
        moved,
        whole_numbers,
        scaled,
        zero_at_the_edge,
        some_element_of_a,
        not_finite,
    )
    return part_of_each_tile(outcome) or first_slip(tests, outcome)


def all_zero(outcome: Outcome) -> Slip | None:
    """Nothing but zeros."""
    if outcome.values.any():
        return None
    hint = "Which line carries an element of A to B?"
    return Slip("wrong-formula", "B is zero everywhere.", hint, ("store",))


def scaled(outcome: Outcome) -> Slip | None:
    """The right numbers plus a constant, or times a constant."""
    slip = shifted_or_scaled(outcome)
    if slip is None:
        return None
    hint = "Does anything have to be computed with the elements?"
    return Slip("wrong-formula", slip.message, hint, ("store",), values=slip.values)


def moved(outcome: Outcome) -> Slip | None:
    """Elements of A in the wrong places of B."""
    rows_of_b, columns_of_b = np.asarray(np.indices(outcome.got.shape))
    point = without_steps(rows_of_b, columns_of_b, outcome.sizes)
    for rows, columns in by_cost(INDICES, RIGHT, first=NAMED):
        if outcome.matches(taken(outcome.A, rows, columns, point), MOST):
            return _moved_slip(rows, columns)
    return None


def _moved_slip(row: str, column: str) -> Slip:
    if (row, column) in NAMED:
        message, hint, place = NAMED[row, column]
        return Slip("wrong-index", message, hint, place)
    parts = [f"the row of A is {INDICES[row]}"] if row != RIGHT[0] else []
    parts += [f"the column of A is {INDICES[column]}"] if column != RIGHT[1] else []
    slots = [name for name, wrong in (("row", row != RIGHT[0]), ("column", True)) if wrong]
    hint = "Write down, for thread (1, 0) of block (1, 0), what it reads and where it writes."
    slots = slots if column != RIGHT[1] else ["row"]
    slots += ["next"] if {row, column} & NEXT else []
    place = ("moved", "A", *slots)
    return Slip("wrong-index", say("The numbers fit if {parts}.", parts=joined(parts)), hint, place)


def part_of_each_tile(outcome: Outcome) -> Slip | None:
    """The same rows (or columns) of every tile are never written, and all others are right."""
    untouched, sizes = outcome.untouched, outcome.sizes
    rows, columns = np.indices(untouched.shape)
    if np.isnan(outcome.poison) or not untouched.any() or not outcome.right[~untouched].all():
        return None
    for noun, within, tile in (
        ("row", rows % sizes.tile_rows, sizes.tile_rows),
        ("column", columns % sizes.tile_columns, sizes.tile_columns),
    ):
        gone = [each for each in range(tile) if untouched[within == each].all()]
        whole = len(gone) < tile and np.array_equal(untouched, np.isin(within, gone))
        if whole and untouched.shape[noun == "column"] >= 2 * tile:
            kept = tile - len(gone)
            message = say(
                "Of every {tile} {noun}s of B only {kept} {are} written; the first one left out "
                "is {noun} {step}.",
                tile=tile,
                noun=noun,
                kept=kept,
                are="is" if kept == 1 else "are",
                step=gone[0],
            )
            hint = say(
                "How often must a thread work, so that its block moves all {tile} {noun}s?",
                tile=tile,
                noun=noun,
            )
            return Slip("incomplete-output", message, hint, ("store",))
    return None


def zero_at_the_edge(outcome: Outcome) -> Slip | None:
    """Zeros where elements of A should be: the test before a load is too strict."""
    wrong = ~outcome.right
    if not outcome.right.any() or outcome.values[wrong].any():
        return None
    message = say(
        "B is zero in {where}: A has elements there that nobody reads.",
        where=where(wrong, outcome.sizes),
    )
    hint = "Which size belongs to the row of A, and which to its column?"
    return Slip("wrong-bounds-check", message, hint, ("guard", "A"))


def some_element_of_a(outcome: Outcome) -> Slip | None:
    """Wrong elements that are elements of A all the same: one example says what goes where."""
    wrong = ~outcome.right & outcome.known
    if not wrong.any() or not np.isin(outcome.got[wrong], outcome.A).all():
        return None
    p, q = np.argwhere(wrong)[0]
    i, j = np.argwhere(np.equal(outcome.A, outcome.got[p, q]))[0]
    message = say("B[{p}, {q}] holds A[{i}, {j}], and should hold A[{q}, {p}].", p=p, q=q, i=i, j=j)
    hint = "Which thread writes this element, from which cell, and who filled that cell?"
    return Slip("wrong-index", message, hint, ("moved", "A", "row", "column"))


def transpose_mapping(trail: Trail, sizes: Geometry) -> Slip | None:
    """Do the blocks write where the launch has them write?

    One block further in x is one tile further along the columns of A, so down the rows of B.
    """
    steps = block_steps(trail)
    if steps is None:
        return None
    (row_x, column_x), (row_y, column_y) = steps
    high, wide = sizes.tile_rows, sizes.tile_columns
    hint = "Block (1, 0) brings the second tile in a row of A. Where in B does it belong?"
    if (column_x, row_y) == (wide, high) and row_x == column_y == 0:
        message = (
            "One block further in x moves along the columns of B, and one further in y down its "
            "rows. The launch counts columns of A in x; they are the rows of B."
        )
        return Slip("wrong-index", message, hint, ("store", "index", "row"))
    for axis, moved_by, tile, noun in (("x", row_x, high, "row"), ("y", column_y, wide, "column")):
        if moved_by in (None, tile) or (trail.writes == 1).all():
            continue
        if moved_by == 0:
            message = say(
                "All blocks in {axis} write the same {noun}s of B: an offset is missing.",
                axis=axis,
                noun=noun,
            )
            return Slip("wrong-index", message, hint, ("store", "missing offset", noun))
        else:
            message = say(
                "From one block to the next in {axis} the {noun} of B grows by {moved_by}, but a "
                "tile has {tile} {noun}s.",
                axis=axis,
                noun=noun,
                moved_by=moved_by,
                tile=tile,
            )
        return Slip("wrong-index", message, hint, ("store", "index", noun))
    return None


class Transpose(Problem):
    """B = A.T; M and N are the rows and columns of A, which the grid covers."""

    letters = "AB"
    steps_of_all = 50_000
    fewest_steps = 8000  # a warp may pass a tile round by shuffles: 32 x 32 of them
    counted = 0
    any_range = True

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape[:2],)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """Nothing is computed, so nothing may be off."""
        moved = inputs[0].T.astype(np.float64)
        return moved, np.zeros(moved.shape)

    def label(self, shape: Shape) -> str:
        return f"A of {shape[0]} x {shape[1]}"

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        M, N, _ = shape
        width, height = (*tile, 1)[:2]
        return Geometry(N, M, 0, width, height)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        wide, high = tile
        return (high, wide), (wide, high)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0] * shape[1],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """Between filling the tile and emptying it."""
        return 1


def moved_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where elements go astray: at the load, at the store, or on the way through the tile."""
    array, *slots = details
    for each in at.source.parameters_and_tiles():
        for access in at.source.accesses(each, store=False) + at.source.accesses(each, store=True):
            if "next" in slots and any(map(_is_next, indices_of(access))):
                return SlipLocation(access.lineno)
    slots = [each for each in slots if each != "next"]
    if not at.trail.loaded[array].all():
        return load_place(at, [array, *slots])
    if not at.trail.writes.all():
        slot = "column" if slots == ["row"] else "row"  # the row of A is the column of B
        return store_place(at, ["index", slot])
    return shared_place(at, details)


def _is_next(index: ast.expr) -> bool:
    """Is it an index plus or minus one?"""
    return (
        isinstance(index, ast.BinOp)
        and isinstance(index.right, ast.Constant)
        and index.right.value == 1
        and isinstance(index.op, (ast.Add, ast.Sub))
    )
