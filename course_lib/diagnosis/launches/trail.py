"""What a launch did to global memory: who accessed which elements, and how its tiles travelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access

if TYPE_CHECKING:
    from course_lib.emulator.machine.events import Frame
    from course_lib.emulator.state.lanes import Mask, Value
    from course_lib.emulator.state.memory import ArrayView

MOST_LANES = 1 << 20  # that store; more of them say nothing new


@dataclass(frozen=True)
class Trail:
    """The accesses of one launch to its global arrays.

    Attributes:
        load_lines, store_lines: array -> lines on which it is read, or written.
        blocks: (block x, block y) of those that wrote in the output.
        writes: how often each element of the output was written.
        lines: those of the statements that ran.
        distances: where the output has one axis: line -> how far before a thread's own number in
            its block the cells of shared arrays lie that are accessed there.
        hands_over: whether a thread read a shared cell that another one had written.
        most_elements: how many elements of the output are there of which one thread was the last
            to write them, at most.
    """

    load_lines: dict[str, tuple[int, ...]]
    store_lines: dict[str, tuple[int, ...]]
    blocks: frozenset[tuple[int, int]]
    writes: np.ndarray
    lines: frozenset[int] = frozenset()
    distances: Mapping[int, set[int]] = field(default_factory=dict)
    hands_over: bool = False
    most_elements: int = 0


class TrailMaker(Observer):
    """Listens to the accesses of one launch, and keeps what a Trail holds.

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
        self.output = output
        self.loads: dict[str, set[int]] = {name: set() for name in shapes}
        self.stores: dict[str, set[int]] = {name: set() for name in shapes}
        self.writes = np.zeros(shapes[output], int, order)
        self.owners = np.full(self.writes.size, -1)
        wide, high = (*grid, 1)[:2]
        self.wrote = np.zeros((high, wide), bool)  # which blocks wrote in the output
        self.lanes_of_stores = 0
        self.lines: set[int] = set()
        self.distances: dict[int, set[int]] = {}
        self.hands_over = False
        self.writers: dict[int, np.ndarray] = {}  # of each shared array: who wrote a cell last

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        """Take note of a statement that runs."""
        self.lines.add(line)

    def access(self, access: Access) -> None:
        """Take note of an access to global memory, and of numbers that threads hand over."""
        if access.allocation.space == "shared" and not self.hands_over:
            self.note_shared(access)
        if access.allocation.space != "global" or access.array not in self.shapes:
            return
        if access.kind == "load":
            self.loads[access.array].add(access.line)
            return
        space = access.mask.space
        cells = np.broadcast_to(access.cell, space.shape)
        bx, by = (np.broadcast_to(space.block_index[axis], space.shape) for axis in (2, 1))
        wide = self.wrote.shape[1]
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
        self.wrote[blocks[:, 1], blocks[:, 0]] = True

    def trail(self) -> Trail:
        """Everything that was noted."""
        return Trail(
            _sorted(self.loads),
            _sorted(self.stores),
            frozenset((bx, by) for by, bx in np.argwhere(self.wrote).tolist()),
            self.writes,
            frozenset(self.lines),
            self.distances,
            self.hands_over,
            int(np.bincount(self.owners[self.owners >= 0], minlength=1).max()),
        )


def _sorted(lines: dict[str, set[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(sorted(numbers)) for name, numbers in lines.items()}


# --- Copies of tiles: is one waited for as soon as it was started? --------------------------------


class Journeys(Observer):
    """Notes whether a copy of a tile from global memory is waited for as soon as it was started.

    Between its order (a load, or the start of an asynchronous copy) and its arrival in shared
    memory (a store, or the wait in which the copy lands) the block should read another tile. The
    first tile has no other to travel beside.

    Attributes:
        at_once: lines of the order and of the arrival, of the first later tile that nothing was
            read beside; None if there is none. Of a copy they are one line.
        stored: the last line at which threads themselves store in shared memory.
    """

    spaces: ClassVar = ("global", "shared")

    def __init__(self) -> None:
        self.at_once: tuple[int, int] | None = None
        self.stored: int | None = None
        self._ordered = 0  # the line of the last order that nothing has been read beside
        self._reads = 0
        self._reads_before: dict[tuple[int, ...], int] = {}  # a copy began after so many

    def access(self, access: Access) -> None:
        in_shared = access.allocation.space == "shared"
        if in_shared and access.kind == "load":
            self._ordered, self._reads = 0, self._reads + 1
        elif access.kind == ("copy" if in_shared else "load"):
            self._ordered = access.line
            if in_shared:
                self._reads_before[access.order] = self._reads
        elif in_shared and access.kind == "store":
            self.stored = max(access.line, self.stored or 0)
            self._arrive(access.line)

    def landed(self, access: Access) -> None:
        if self._reads and self._reads_before[access.order] == self._reads:
            self.at_once = self.at_once or (access.line, access.line)

    def _arrive(self, line: int) -> None:
        if self._ordered and self._reads and self.at_once is None:
            self.at_once = self._ordered, line
