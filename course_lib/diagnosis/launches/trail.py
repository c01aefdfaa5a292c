"""What a launch did: who accessed which elements, how tiles travelled, how wide accesses were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access

MOST_LANES = 1 << 20  # that store; more of them say nothing new


class Trail(Observer):
    """The accesses of one launch to its global arrays, and what threads hand over.

    Args:
        shapes: array -> its shape, for every array that was passed in.
        output: the array that is written.
        blocks_in_a_row: of the launch's grid.
        order: how the arrays lie in memory, as NumPy has it: "C" or "F".

    Attributes:
        writes: how often each element of the output was written.
        hands_over: whether a thread read a shared cell that another one had written.
    """

    def __init__(
        self,
        shapes: dict[str, tuple[int, ...]],
        output: str,
        blocks_in_a_row: int,
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.output, self.blocks_in_a_row = output, blocks_in_a_row
        self.stores: dict[str, set[int]] = {name: set() for name in shapes}
        self.writes = np.zeros(shapes[output], int, order)
        self.owners = np.full(self.writes.size, -1)  # the last thread to write each element
        self.lanes_of_stores = 0
        self.hands_over = False
        self.writers: dict[int, np.ndarray] = {}  # of each shared array: who wrote a cell last

    @property
    def store_lines(self) -> dict[str, list[int]]:
        """By array, the lines on which it is written."""
        return {name: sorted(lines) for name, lines in self.stores.items()}

    @property
    def most_elements(self) -> int:
        """How many elements of the output are there of which one thread was the last to write them,
        at most."""
        return int(np.bincount(self.owners[self.owners >= 0], minlength=1).max())

    def access(self, access: Access) -> None:
        """Take note of an access to global memory, and of numbers that threads hand over."""
        if access.allocation.space == "shared" and not self.hands_over:
            self.note_shared(access)
        if access.allocation.space != "global" or access.array not in self.stores:
            return
        if access.kind == "load":
            return
        self.stores[access.array].add(access.line)
        space = access.mask.space
        active = slice(None) if access.mask.array is None else access.mask.full_array
        cells = np.broadcast_to(access.cell, space.shape)[active].reshape(-1)
        touched, lanes = access.each_cell(cells, np.arange(len(cells)))
        self.lanes_of_stores += len(touched)
        if access.array != self.output:
            return
        block = space.block_index[2] + space.block_index[1] * self.blocks_in_a_row
        threads = np.broadcast_to(block * space.block_size + space.thread_in_block, space.shape)
        self.owners[touched] = threads[active].reshape(-1)[lanes]
        if self.lanes_of_stores <= MOST_LANES:
            np.add.at(self.writes.reshape(-1, order="A"), touched, 1)

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


# --- How many bytes each block of a launch loads from global memory, line by line ----------------


class BusiestBlock(NamedTuple):
    """The block that loads most: its indices (x first), how many times its even share that is, and
    the line at which it loads most."""

    block: tuple[int, ...]
    times: float
    line: int


class Shares(Observer):
    """Counts the bytes that the lanes of each block load.

    Args:
        grid: the launch's blocks, x first.
    """

    spaces: ClassVar = ("global",)

    def __init__(self, grid: Sequence[int]) -> None:
        self.grid = tuple(grid)
        self.loaded: Counter[tuple[int, int]] = Counter()  # bytes, by block and line

    def access(self, access: Access) -> None:
        if access.kind == "load":
            lanes = access.mask.lanes_by_block
            for block, count in zip(access.mask.space.block_in_grid.flat, lanes, strict=True):
                self.loaded[int(block), access.line] += int(count) * access.width

    def busiest(self) -> BusiestBlock | None:
        """None if nothing is loaded."""
        of_blocks: Counter[int] = Counter()
        for (block, _), count in self.loaded.items():
            of_blocks[block] += count
        if not of_blocks.total():
            return None
        [(busiest, most)] = of_blocks.most_common(1)
        line = max(self.loaded, key=lambda key: (key[0] == busiest, self.loaded[key], key[1]))[1]
        index = map(int, np.unravel_index(busiest, self.grid, "F"))
        return BusiestBlock((*index,), most * prod(self.grid) / of_blocks.total(), line)


# --- How many bytes each lane moves with one access, line by line --------------------------------


class AccessSite(NamedTuple):
    """Where an array is accessed."""

    space: str
    array: str
    verb: Literal["load", "store"]
    line: int


class Widths(Observer):
    """Counts, for each place, the lanes that access an array there, and the bytes that they move.

    What shared memory gets by asynchronous copies is theirs, and no store of a thread.
    """

    spaces: ClassVar = ("global", "shared")

    def __init__(self) -> None:
        self.lanes: Counter[AccessSite] = Counter()
        self.bytes: Counter[AccessSite] = Counter()

    def access(self, access: Access) -> None:
        if access.kind not in ("load", "store"):
            return
        place = AccessSite(access.allocation.space, access.array, access.kind, access.line)  # type: ignore[arg-type]
        self.lanes[place] += access.mask.lanes
        self.bytes[place] += access.mask.lanes * access.width

    def narrowest(self, space: str, array: str, verb: str, width: int) -> AccessSite | None:
        """Where most lanes move fewer bytes at once than `width`; "" stands for all arrays."""
        narrow = [
            place
            for place, lanes in self.lanes.items()
            if (place.space, place.verb) == (space, verb)
            and place.array == (array or place.array)
            and self.bytes[place] < width * lanes
        ]
        return max(narrow, key=lambda place: (self.lanes[place], place.line), default=None)
