"""What a launch did to global memory: which lines, which elements, and which block wrote what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.slips import Geometry, Slip


@dataclass(frozen=True)
class Trail:
    """The accesses of one launch to its global arrays (from the emulator's trace).

    Attributes:
        load_lines, store_lines: array -> lines on which it is read, or written.
        loaded: array -> which of its elements were read (a mask).
        corners: (block x, block y) -> the smallest row and column of the output that it wrote.
        ends: the same for the largest row and column.
        writes: how often each element of the output was written.
    """

    load_lines: dict[str, tuple[int, ...]]
    store_lines: dict[str, tuple[int, ...]]
    loaded: dict[str, np.ndarray]
    corners: dict[tuple[int, int], tuple[int, ...]]
    ends: dict[tuple[int, int], tuple[int, ...]]
    writes: np.ndarray


def make_trail(trace: Iterable[object], shapes: dict[str, tuple[int, ...]], output: str) -> Trail:
    """A Trail of every access to a global array in a trace."""
    loads: dict[str, set[int]] = {name: set() for name in shapes}
    stores: dict[str, set[int]] = {name: set() for name in shapes}
    loaded = {name: np.zeros(shape, bool) for name, shape in shapes.items()}
    writes = np.zeros(shapes[output], int)
    corners: dict[tuple[int, int], tuple[int, ...]] = {}
    ends: dict[tuple[int, int], tuple[int, ...]] = {}
    for access in trace:
        name = access.array  # type: ignore[attr-defined]
        if access.space != "global" or name not in shapes:  # type: ignore[attr-defined]
            continue
        indices, threads = access.all_indices(shapes[name])  # type: ignore[attr-defined]
        inside = ((indices >= 0) & (indices < np.asarray(shapes[name]))).all(axis=1)
        lines = loads if access.kind == "load" else stores  # type: ignore[attr-defined]
        lines[name].add(access.line)  # type: ignore[attr-defined]
        if access.kind == "load":  # type: ignore[attr-defined]
            loaded[name][tuple(indices[inside].T)] = True
        elif name == output:
            np.add.at(writes, tuple(indices[inside].T), 1)
            _note_corners(corners, ends, threads, indices)
    return Trail(_sorted(loads), _sorted(stores), loaded, corners, ends, writes)


def _sorted(lines: dict[str, set[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(sorted(numbers)) for name, numbers in lines.items()}


def _note_corners(
    corners: dict[tuple[int, int], tuple[int, ...]],
    ends: dict[tuple[int, int], tuple[int, ...]],
    threads: np.ndarray,
    indices: np.ndarray,
) -> None:
    """Widen the part of each block to the rows and columns that it writes here."""
    blocks = threads[:, [2, 1]]  # (bz, by, bx, …) -> (bx, by)
    for block in np.unique(blocks, axis=0):
        place = (int(block[0]), int(block[1]))
        here = indices[(blocks == block).all(axis=1)][:, :2]
        low, high = here.min(axis=0).tolist(), here.max(axis=0).tolist()
        old, far = corners.get(place, tuple(low)), ends.get(place, tuple(high))
        corners[place] = tuple(map(min, old, low))
        ends[place] = tuple(map(max, far, high))


def mapping_slip(trail: Trail, sizes: Geometry) -> Slip | None:
    """Do the blocks write where the launch has them write?

    The launch gives x to the columns and y to the rows, one tile of C to a block. How far the
    corner of a block's part of C moves from one block to the next shows what the kernel does.
    """
    if len(trail.writes.shape) != 2:
        return None
    steps = block_steps(trail)
    if steps is None:
        return shape_slip(trail, sizes)
    (row_x, column_x), (row_y, column_y) = steps
    high, wide = sizes.tile_rows, sizes.tile_columns
    if (row_x, column_y) == (wide, high) and row_y == column_x == 0:
        message = (
            "Blocks run through C the wrong way: one block further in x moves down the rows, and "
            "one further in y along the columns. The launch has x for columns and y for rows."
        )
        hint = "Which of the two numbers of cuda.grid(2), or of blockIdx, counts columns?"
        return Slip("wrong-index", message, hint, ("store", "mapping", "both"))
    hint = "What distinguishes thread (0, 0) of block (1, 0) from thread (0, 0) of block (0, 0)?"
    for axis, moved, tile, noun in (("x", column_x, wide, "column"), ("y", row_y, high, "row")):
        if moved is not None and moved != tile and not _whole(trail):
            other = (column_y, wide) if axis == "x" else (row_x, high)
            if moved == 0 and other[0] == other[1]:
                wrong = "y" if axis == "x" else "x"
                text = (
                    f"The {noun} of C grows with the block's {wrong}, but the launch counts "
                    f"{noun}s in {axis}."
                )
            elif moved == 0:
                text = (
                    f"All blocks in {axis} write the same {noun}s: the offset of the block is "
                    "missing."
                )
            else:
                text = (
                    f"From one block to the next in {axis} the {noun} of C grows by {moved}, "
                    f"but a block covers {tile} {noun}s."
                )
            return Slip("wrong-index", text, hint, ("store", "mapping", noun))
    return shape_slip(trail, sizes)


def shape_slip(trail: Trail, sizes: Geometry) -> Slip | None:
    """Does a block write beyond its tile, while other elements are left out?"""
    if (0, 0) not in trail.corners or trail.writes.all():
        return None
    rows, columns = (
        end - corner + 1 for end, corner in zip(trail.ends[0, 0], trail.corners[0, 0], strict=True)
    )
    high, wide = sizes.tile_rows, sizes.tile_columns
    if rows <= high and columns <= wide:
        return None
    text = (
        f"Block (0, 0) writes into {_count(rows, 'row')} and {_count(columns, 'column')} of C; "
        f"its own part has {_count(high, 'row')} and {_count(wide, 'column')}."
    )
    hint = "Write down the row and the column for the last thread of block (0, 0)."
    return Slip("wrong-index", text, hint, ("store", "mapping", "row" if rows > high else "column"))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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


def writing_blocks(trail: Trail) -> Sequence[tuple[int, int]]:
    """The blocks (x, y) that wrote anything."""
    return sorted(trail.corners)
