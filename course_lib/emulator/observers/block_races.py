"""Finds races between the blocks of a launch, which nothing orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.races import MAX_REPORTED, Race, code_of
from course_lib.emulator.observers.touched import (
    Touched,
    conflicts_of_lines,
    touched_by,
    updated_by_several,
)
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Access


class BlockRaces(Observer):
    """Finds cells of global memory that two blocks touch in one launch, one of them writing.

    Nothing orders blocks, so their accesses conflict wherever in the kernel they stand. For each
    line and kind of access it is kept which blocks touched a cell, the lowest and the highest of
    them; all is judged when the launch has ended. One order between blocks is understood: what a
    block wrote before a `threadfence` and an atomic operation may be read by a block that did the
    same atomic operation later and reads after it, as the last block of a sum does.

    Args:
        grid: the grid's size, (z, y, x).
        written: the arrays that the kernel writes, by id; others need no record.
        fences: the lines that call `threadfence`.
    """

    spaces = ("global",)

    def __init__(
        self, grid: tuple[int, int, int], written: set[int], fences: Sequence[int] = ()
    ) -> None:
        self.grid = grid
        self.written = written
        self.fences = fences
        # For each line with an atomic operation, which blocks did it, and when.
        self._turns: dict[int, dict[int, int]] = {}
        self._touched: dict[int, dict[tuple[str, int], Touched]] = {}

    def access(self, access: Access) -> None:
        """Take note of an access to a global array that the kernel writes."""
        if id(access.allocation.root) not in self.written:
            return
        of_array = self._touched.setdefault(id(access.allocation), {})
        cells, blocks = _cells_and_blocks(access, access.mask.space)
        touched_by(of_array, access).add(access, cells, blocks)
        if self.fences and access.kind == "atomic":
            turns = self._turns.setdefault(access.line, {})
            for block in dict.fromkeys(blocks.tolist()):
                turns[block] = len(turns)

    @property
    def races(self) -> list[Race]:
        """The first conflict of each two lines, in the program's order."""
        return [
            replace(
                self._race(first, second, cell, *blocks),
                updates=updated_by_several(of_array, first, second, cell),
            )
            for of_array in self._touched.values()
            for first, second, cell, *blocks in conflicts_of_lines(
                of_array.values(), self._releases
            )
        ][:MAX_REPORTED]

    def _releases(self, first: int, second: int) -> list[dict[int, int]]:
        """The atomic operations between two lines that a fence precedes: who did them, and when."""
        return [
            turns
            for line, turns in self._turns.items()
            if line < second and any(first < fence < line for fence in self.fences)
        ]

    def _race(self, first: Touched, second: Touched, cell: int, one: int, other: int) -> Race:
        return Race(
            code=code_of(first.kind, second.kind),
            array=first.allocation.name,
            cell=first.allocation.element_name(cell),
            space="global",
            first_kind=first.kind,
            first_line=first.line,
            first_thread=(0, 0, 0),
            first_block=_block_place(one, self.grid),
            second_kind=second.kind,
            second_line=second.line,
            second_thread=(0, 0, 0),
            second_block=_block_place(other, self.grid),
            same_warp=False,
        )


def _cells_and_blocks(access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray]:
    """The cells that an access touches, each with the number of the block that touches it."""
    shape = np.broadcast_shapes(np.shape(access.cell) or (1,) * 6, (*space.blocks, 1, 1, 1))
    active = access.mask.array
    if active is not None:
        shape = np.broadcast_shapes(shape, active.shape)
    cells = np.broadcast_to(access.cell, shape)
    blocks = np.broadcast_to(space.block_in_grid, shape)
    where = slice(None) if active is None else np.broadcast_to(active, shape)
    here, of_blocks = cells[where].reshape(-1), blocks[where].reshape(-1).astype(np.int32)
    return access.each_cell(here, of_blocks)


def _block_place(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(i) for i in np.unravel_index(number, grid))
    return x, y, z
