"""Finds races between the blocks of a launch, which nothing orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.races import MAX_REPORTED, Race, code_of
from course_lib.emulator.observers.stacking import Shape, shapes_of, stacked
from course_lib.emulator.observers.touched import (
    Touched,
    conflicts_of_lines,
    touched_by,
    updated_by_several,
)
from course_lib.emulator.state.lanes import spread
from course_lib.emulator.state.memory import Access

MAX_WAITING_CELLS = 1 << 15


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
        # Accesses that are not in these tables yet, those that look alike together.
        self._waiting: dict[tuple[Touched, int, Shape, Shape | None], list[Access]] = {}
        self._cells = 0

    def access(self, access: Access) -> None:
        """Take note of an access to a global array that the kernel writes."""
        if id(access.allocation.root) not in self.written:
            return
        of_array = self._touched.setdefault(id(access.allocation), {})
        touched = touched_by(of_array, access)
        alike = (touched, access.elements, *shapes_of(access))
        self._waiting.setdefault(alike, []).append(access)
        self._cells += access.cell.size
        if self._cells > MAX_WAITING_CELLS:
            self._add_waiting()
        if self.fences and access.kind == "atomic":
            turns = self._turns.setdefault(access.line, {})
            for block in dict.fromkeys(_cells_and_blocks([access])[1].tolist()):
                turns[block] = len(turns)

    def end(self) -> None:
        self._add_waiting()

    def _add_waiting(self) -> None:
        """Note who touched the cells of the accesses that are waiting."""
        waiting, self._waiting, self._cells = self._waiting, {}, 0
        for (touched, *_), accesses in waiting.items():
            first = min(accesses, key=lambda access: access.order)
            touched.add(first, *_cells_and_blocks(accesses))

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


def _cells_and_blocks(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray]:
    """The cells that accesses of equal shapes touch, each with the number of its block."""
    cells, active = stacked(accesses)
    blocks = accesses[0].mask.space.block_in_grid[None]
    shape = tuple(map(max, cells.shape, blocks.shape, active.shape))
    cells, blocks = spread(cells, shape), spread(blocks, shape)
    if accesses[0].mask.array is not None:
        where = spread(active, shape)
        cells, blocks = cells[where], blocks[where]
    return accesses[0].each_cell(cells.reshape(-1), blocks.reshape(-1).astype(np.int32))


def _block_place(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(i) for i in np.unravel_index(number, grid))
    return x, y, z
