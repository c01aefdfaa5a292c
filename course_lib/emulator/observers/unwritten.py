"""Notes reads of what nobody wrote, and of them those that spoil a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.emulator.observers.thread_names import FaultObserver
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory
from course_lib.findings import finding
from course_lib.sentences import say


@dataclass(eq=False)
class _Reads:
    """The lanes that read, on one line, cells of an array that nobody had written.

    Both are flat: `lanes` says which, `cells` of each of them the first such cell. `all` says of
    each cell of the array whether it is one of them.
    """

    allocation: Allocation
    lanes: np.ndarray
    cells: np.ndarray
    all: np.ndarray


class Unwritten(FaultObserver):
    """Makes a finding of each line that reads unwritten cells, by a lane that they spoil."""

    spaces = ("global",)

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        super().begin(space, memory)
        self._reads: dict[tuple[int, str], _Reads] = {}
        self._spoiled = np.zeros(0, bool)

    def uninitialised(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        cells = spread(cell, self.space.shape).reshape(-1)
        lanes = bad.full_array.reshape(-1)
        known = self._reads.get(key)
        if known is None:
            cells_of_array = np.zeros(allocation.cells, bool)
            known = _Reads(allocation, lanes.copy(), cells.copy(), cells_of_array)
            self._reads[key] = known
        else:
            new = lanes & ~known.lanes
            known.cells[new] = cells[new]
            known.lanes |= new
        known.all[cells[lanes]] = True

    def access(self, access: Access) -> None:
        """Remember which lanes store not-a-number to global memory."""
        allocation = access.allocation
        if not self._reads or access.kind != "store":
            return
        if allocation.space != "global" or allocation.dtype.kind != "f":
            return
        lanes = np.flatnonzero(access.mask.full_array)
        cells = spread(access.cell, self.space.shape).reshape(-1)[lanes]
        if not self._spoiled.size:
            self._spoiled = np.zeros(self.space.size, bool)
        self._spoiled[lanes[np.isnan(allocation.storage[cells])]] = True

    def end(self) -> None:
        for (line, _), read in self._reads.items():
            telling = read.lanes & self._spoiled if self._spoiled.size else read.lanes
            lane = int(np.argmax(telling if telling.any() else read.lanes))
            cell = int(read.cells[lane])
            self._note_read(read.allocation.element_name(cell), read.allocation.space, lane, line)

    def has_read(self, line: int | None, cell: str) -> bool:
        """Did a line read this cell, "tile[1, 0]", before anything was written there?"""
        array = cell.split("[")[0]
        read = self._reads.get((line or 0, array))
        if read is None:
            return False
        return any(read.allocation.element_name(int(n)) == cell for n in np.flatnonzero(read.all))

    def _note_read(self, name: str, space: str, lane: int, line: int) -> None:
        who, thread = self.who(lane)
        where = {
            "shared": "Shared memory starts with undefined contents.",
            "local": "A local array starts with undefined contents.",
            "global": "What stands there before the launch is undefined.",
        }[space]
        found = finding(
            "uninitialised-read",
            say(
                "{who} reads {name}, which no thread has written. {where}",
                who=who,
                name=name,
                where=where,
            ),
            line,
            "Which thread should have written this cell, and did it always do so?",
            threads=(thread,),
            cell=name,
        )
        self.note(found)
