"""Where blocks write that should have written elsewhere, read off a launch's trail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.diagnosis.launches.outcome import Geometry
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say

if TYPE_CHECKING:
    pass
from course_lib.diagnosis.launches.trail import Trail
from course_lib.words import counted


def mapping_slip(trail: Trail, sizes: Geometry, output: str = "C") -> Slip | None:
    """Do the blocks write where the launch has them write?

    The launch gives x to the columns and y to the rows, one tile of C to a block. How far the
    corner of a block's part of C moves from one block to the next shows what the kernel does.
    """
    if len(trail.writes.shape) != 2:
        return None
    steps = block_steps(trail)
    if steps is None:
        return shape_slip(trail, sizes, output)
    (row_x, column_x), (row_y, column_y) = steps
    high, wide = sizes.tile_rows, sizes.tile_columns
    # A result that is mirrored from left to right is written from its last column on.
    if (row_x, abs(column_y or 0)) == (wide, high) and row_y == column_x == 0:
        message = say(
            "Blocks run through {output} the wrong way: one block further in x moves down the "
            "rows, and one further in y along the columns. The launch has x for columns and y for "
            "rows.",
            output=output,
        )
        hint = "Which of the two numbers of cuda.grid(2), or of blockIdx, counts columns?"
        return Slip("wrong-index", message, hint, ("store", "mapping", "both"))
    if not _whole(trail):
        for axis, noun, moved, other in (
            ("x", "column", (column_x, wide), (column_y, wide)),
            ("y", "row", (row_y, high), (row_x, high)),
        ):
            slip = _slip_along(trail, axis, noun, moved, other, output)
            if slip:
                return slip
    return shape_slip(trail, sizes, output)


def _slip_along(
    trail: Trail,
    axis: str,
    noun: str,
    moved_and_tile: tuple[int | None, int],
    other: tuple[int | None, int],
    output: str,
) -> Slip | None:
    """What is wrong with how far one block further along an axis of the grid moves, if anything.

    Args:
        moved_and_tile: how far the block's part moves, and how far it should.
        other: how far it moves along the same axis of the output with a block of the other axis.
    """
    moved, tile = moved_and_tile
    if moved is None or moved == tile or _ends_fit(trail, axis, noun, tile):
        return None
    if _stays_within(trail, axis, noun, tile):
        return None
    hint = say(
        "What distinguishes thread (0, 0) of block {next} from thread (0, 0) of block (0, 0)?",
        next=(1, 0) if axis == "x" else (0, 1),
    )
    if moved == 0 and other[0] == other[1]:
        wrong = "y" if axis == "x" else "x"
        text = say(
            "The {noun} of {output} grows with the block's {wrong}, but the launch counts "
            "{noun}s in {axis}.",
            noun=noun,
            output=output,
            wrong=wrong,
            axis=axis,
        )
    elif moved == 0 and not _stay(trail, axis, noun):
        return None  # some line writes at a fixed place, another one moves with the block
    elif moved == 0:
        text = say(
            "All blocks in {axis} write the same {noun}s: the offset of the block is missing.",
            axis=axis,
            noun=noun,
        )
        return Slip("wrong-index", text, hint, ("store", "missing offset", noun))
    else:
        text = say(
            "From one block to the next in {axis} the {noun} of {output} grows by {moved}, "
            "but a block covers {tile} {noun}s.",
            axis=axis,
            noun=noun,
            output=output,
            moved=moved,
            tile=tile,
        )
    return Slip("wrong-index", text, hint, ("store", "mapping", noun))


def _ends_fit(trail: Trail, axis: str, noun: str, tile: int) -> bool:
    """Does the end of a block's part move by a tile? Then only its beginning was not written."""
    place = 0 if noun == "row" else 1
    here, there = (0, 0), (1, 0) if axis == "x" else (0, 1)
    return trail.ends[there][place] - trail.ends[here][place] == tile


def _stays_within(trail: Trail, axis: str, noun: str, tile: int) -> bool:
    """Do the first block and the next one write within their own parts, if perhaps not all?"""
    place = 0 if noun == "row" else 1
    blocks = ((0, 0), (1, 0) if axis == "x" else (0, 1))
    return all(
        trail.corners[block][place] // tile == trail.ends[block][place] // tile == number
        for number, block in enumerate(blocks)
    )


def _stay(trail: Trail, axis: str, noun: str) -> bool:
    """Does the next block along an axis of the grid write the same rows, or columns?"""
    place = 0 if noun == "row" else 1
    here, there = (0, 0), (1, 0) if axis == "x" else (0, 1)
    return all(each[here][place] == each[there][place] for each in (trail.corners, trail.ends))


def run_mapping_slip(trail: Trail, run: int, output: str, noun: str) -> Slip | None:
    """Do blocks that lie in a row write where they should, `run` rows or elements to a block?"""
    first, second = trail.corners.get((0, 0)), trail.corners.get((1, 0))
    if first is None or second is None or _whole(trail):
        return None
    moved = second[0] - first[0]
    hint = "What distinguishes thread 0 of block 1 from thread 0 of block 0?"
    if moved == 0 and _stay(trail, "x", "row"):
        text = say(
            "All blocks write the same {noun}s of {output}: the offset of the block is missing.",
            noun=noun,
            output=output,
        )
        return Slip("wrong-index", text, hint, ("store", "missing offset", "row"))
    if moved in (0, run) or _stays_within(trail, "x", "row", run):
        return None
    text = say(
        "From one block to the next the first {noun} of {output} that is written grows by "
        "{moved}, but {run} belong to a block.",
        noun=noun,
        output=output,
        moved=moved,
        run=counted(run, noun),
    )
    return Slip("wrong-index", text, hint, ("store", "mapping", "row"))


def shape_slip(trail: Trail, sizes: Geometry, output: str = "C") -> Slip | None:
    """Does a block write beyond its tile, while other elements are left out?"""
    if (0, 0) not in trail.corners or trail.writes.all():
        return None
    rows, columns = (
        end - corner + 1 for end, corner in zip(trail.ends[0, 0], trail.corners[0, 0], strict=True)
    )
    high, wide = sizes.tile_rows, sizes.tile_columns
    if rows <= high and columns <= wide:
        return None
    text = say(
        "Block (0, 0) writes into {rows} and {columns} of {output}; its own part has {high} and "
        "{wide}.",
        rows=counted(rows, "row"),
        columns=counted(columns, "column"),
        output=output,
        high=counted(high, "row"),
        wide=counted(wide, "column"),
    )
    hint = "Write down the row and the column for the last thread of block (0, 0)."
    return Slip("wrong-index", text, hint, ("store", "mapping", "row" if rows > high else "column"))


def _whole(trail: Trail) -> bool:
    """Was every element written exactly once?"""
    return bool((trail.writes == 1).all())


Step = tuple[int | None, int | None]


def block_steps(trail: Trail) -> tuple[Step, Step] | None:
    """How far (row, column) of a block's corner move with one block further in x, and in y."""
    first = trail.corners.get((0, 0))
    if first is None or len(trail.corners) < 2:
        return None
    steps: list[Step] = []
    for block in ((1, 0), (0, 1)):
        corner = trail.corners.get(block)
        if corner is None:
            steps.append((None, None))
        else:
            steps.append((corner[0] - first[0], corner[1] - first[1]))
    return steps[0], steps[1]
