"""What a launch did to global memory: which lines, which elements, and which block wrote what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.meter import mark
from course_lib.emulator.state.memory import Access

if TYPE_CHECKING:
    from course_lib.emulator.machine.frames import Frame
    from course_lib.emulator.state.lanes import Mask, Value
    from course_lib.emulator.state.memory import ArrayView


Index = tuple[int, int]
FEW_CELLS = 512  # of an output whose every element is followed to its line
FAR = 1 << 40
MOST_LANES = 1 << 20  # that store; more of them say nothing new


@dataclass(frozen=True)
class Trail:
    """The accesses of one launch to its global arrays.

    Attributes:
        load_lines, store_lines: array -> lines on which it is read, or written.
        loaded: array -> which of its elements were read (a mask).
        corners: (block x, block y) -> the smallest row and column of the output that it wrote.
        ends: the same for the largest row and column.
        writes: how often each element of the output was written.
        lines: those of the statements that ran.
        apart: line -> elements of the two inputs, as indices, that one statement there reads
            although the column of the first is not the row of the second.
        distances: where the output has one axis: line -> how far before a thread's own number in
            its block the cells of shared arrays lie that are accessed there.
        cells: where the output has few elements: line -> those that are written there.
        hands_over: whether a thread read a shared cell that another one had written.
        most_elements: how many elements of the output are there of which one thread was the last
            to write them, at most.
    """

    load_lines: dict[str, tuple[int, ...]]
    store_lines: dict[str, tuple[int, ...]]
    loaded: dict[str, np.ndarray]
    corners: dict[tuple[int, int], tuple[int, ...]]
    ends: dict[tuple[int, int], tuple[int, ...]]
    writes: np.ndarray
    lines: frozenset[int] = frozenset()
    apart: Mapping[int, tuple[Index, Index]] = field(default_factory=dict)
    distances: Mapping[int, set[int]] = field(default_factory=dict)
    cells: Mapping[int, set[int]] = field(default_factory=dict)
    hands_over: bool = False
    most_elements: int = 0


class TrailMaker(Observer):
    """Listens to the accesses of one launch, and keeps what a Trail says of them.

    Args:
        shapes: array -> its shape, for every array that was passed in.
        output: the array that is written.
        grid: the launch's blocks, x first.
        order: how the arrays lie in memory, as NumPy has it: "C" or "F".
    """

    def __init__(
        self,
        shapes: dict[str, tuple[int, ...]],
        output: str,
        grid: Sequence[int],
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.shapes = shapes
        self.order = order
        self.output = output
        self.loads: dict[str, set[int]] = {name: set() for name in shapes}
        self.stores: dict[str, set[int]] = {name: set() for name in shapes}
        self.loaded = {name: np.zeros(shape, bool, order) for name, shape in shapes.items()}
        self.writes = np.zeros(shapes[output], int, order)
        self.owners = np.full(self.writes.size, -1)
        wide, high = (*grid, 1)[:2]
        axes = len(shapes[output][:2])
        self.low = np.full((high, wide, axes), FAR)
        self.high = np.full((high, wide, axes), -1)
        self.lanes_of_stores = 0
        self.lines: set[int] = set()
        self.reads: list[Access] = []  # of the statement that is running
        self.apart: dict[int, tuple[Index, Index]] = {}
        self.distances: dict[int, set[int]] = {}
        self.cells: dict[int, set[int]] = {}
        self.hands_over = False
        self.writers: dict[int, np.ndarray] = {}  # of each shared array: who wrote a cell last

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        """Take note of a statement that runs, and of what the one before has read together."""
        self.end()
        self.lines.add(line)

    def end(self) -> None:
        """The last statement has ended: do the steps that it has read of both inputs agree?"""
        reads, self.reads = self.reads, []
        if len(reads) != 2 or reads[0].line in self.apart:
            return
        first, second = sorted(reads, key=lambda read: list(self.shapes).index(read.array))
        shapes = self.shapes[first.array], self.shapes[second.array]
        if first.array == second.array or first.line != second.line or shapes[0][1] != shapes[1][0]:
            return
        one, other = (np.broadcast_to(each.cell, each.mask.space.shape) for each in (first, second))
        places = [self.places(*each) for each in zip((one, other), shapes, strict=True)]
        differ = (places[0][1] != places[1][0]) & first.mask.full_array
        if differ.any():
            at = tuple(np.argwhere(differ)[0])
            one_at, other_at = ((int(rows[at]), int(columns[at])) for rows, columns in places)
            self.apart[first.line] = (one_at, other_at)

    def access(self, access: Access) -> None:
        """Take note of an access to global memory, and of numbers that threads hand over."""
        if access.allocation.space == "shared" and not self.hands_over:
            self.note_shared(access)
        if access.allocation.space != "global" or access.array not in self.shapes:
            return
        if access.kind == "load":
            self.loads[access.array].add(access.line)
            if len(self.shapes) == 3 and len(self.shapes[access.array]) == 2:
                self.reads.append(access)
            mark(self.loaded[access.array].reshape(-1, order="A"), access)
            return
        space = access.mask.space
        cells = np.broadcast_to(access.cell, space.shape)
        bx, by = (np.broadcast_to(space.block_index[axis], space.shape) for axis in (2, 1))
        wide = self.low.shape[1]
        active = slice(None) if access.mask.array is None else access.mask.full_array
        blocks = np.stack([bx[active].reshape(-1), by[active].reshape(-1)], axis=1)
        touched, of_blocks = access.each_cell(cells[active].reshape(-1), np.arange(len(blocks)))
        threads = (bx + by * wide) * space.block_size + space.thread_in_block
        if access.array == self.output:
            self.owners[touched] = np.broadcast_to(threads, space.shape)[active].reshape(-1)[
                of_blocks
            ]
        self.note_stores(access.array, access.line, touched, blocks[of_blocks])

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        """Take note of how far from its own number a thread goes along a shared array."""
        if view.allocation.space != "shared" or len(self.shapes[self.output]) > 1:
            return
        away = np.broadcast_to(mask.space.thread_in_block - indices[-1], mask.space.shape)
        lanes = slice(None) if mask.array is None else mask.full_array
        self.distances.setdefault(line, set()).update(np.unique(away[lanes]).tolist())

    def note_shared(self, access: Access) -> None:
        """Take note of who writes a shared cell, and whether somebody else reads it."""
        if access.kind not in ("load", "store"):
            self.hands_over = True  # several threads may have changed one cell, or none of them
            return
        allocation, space = access.allocation, access.mask.space
        writers = self.writers.setdefault(id(allocation), np.full(allocation.storage.size, -1))
        lanes = np.flatnonzero(access.mask.full_array)
        first = np.broadcast_to(access.cell, space.shape).reshape(-1)[lanes]
        cells, who = access.each_cell(first, lanes)
        if access.kind == "store":
            writers[cells] = who
        elif (writers[cells] != who).any():
            self.hands_over = True

    def note_stores(self, array: str, line: int, cells: np.ndarray, blocks: np.ndarray) -> None:
        """Take note of the cells that lanes write, and of the lanes' blocks."""
        self.stores[array].add(line)
        self.lanes_of_stores += len(cells)
        if array != self.output or self.lanes_of_stores > MOST_LANES:
            return
        np.add.at(self.writes.reshape(-1, order="A"), cells, 1)
        if self.writes.size <= FEW_CELLS:
            self.cells.setdefault(line, set()).update(cells.tolist())
        places = np.stack(self.places(cells, self.shapes[array]), axis=1)[:, :2]
        where = blocks[:, 1], blocks[:, 0]
        np.minimum.at(self.low, where, places)
        np.maximum.at(self.high, where, places)

    def places(self, cells: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """The indices along each axis of cells that are counted as they lie in memory."""
        return np.unravel_index(cells, shape, self.order)

    def trail(self) -> Trail:
        """All that was heard."""
        corners, ends = {}, {}
        for by, bx in np.argwhere(self.high[:, :, 0] >= 0).tolist():
            corners[bx, by] = tuple(self.low[by, bx].tolist())
            ends[bx, by] = tuple(self.high[by, bx].tolist())
        return Trail(
            _sorted(self.loads),
            _sorted(self.stores),
            self.loaded,
            corners,
            ends,
            self.writes,
            frozenset(self.lines),
            self.apart,
            self.distances,
            self.cells,
            self.hands_over,
            int(np.bincount(self.owners[self.owners >= 0], minlength=1).max()),
        )


def _sorted(lines: dict[str, set[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(sorted(numbers)) for name, numbers in lines.items()}
