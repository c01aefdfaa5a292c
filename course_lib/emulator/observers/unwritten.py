"""Notes reads of what nobody wrote, and of them those that spoil a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.report import Reporter
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory
from course_lib.findings import Finding


@dataclass(eq=False)
class _Reads:
    """The lanes that read, on one line, cells of an array that nobody had written.

    Both are flat: `lanes` says which, `cells` of each of them the first such cell.
    """

    allocation: Allocation
    lanes: np.ndarray
    cells: np.ndarray


class Unwritten(Observer):
    """Makes a finding of each line that reads unwritten cells, by a lane whose result they spoil.

    Args:
        reporter: says it in words.
        note: keeps the finding.
    """

    spaces = ("global",)

    def __init__(self, reporter: Reporter, note: Callable[[Finding], None]) -> None:
        self.reporter = reporter
        self.note = note

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space
        self._reads: dict[tuple[int, str], _Reads] = {}
        self._spoiled = np.zeros(0, bool)

    def uninitialised(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        cells = spread(cell, self.space.shape).reshape(-1)
        lanes = bad.full_array.reshape(-1)
        known = self._reads.get(key)
        if known is None:
            self._reads[key] = _Reads(allocation, lanes.copy(), cells.copy())
        else:
            new = lanes & ~known.lanes
            known.cells[new] = cells[new]
            known.lanes |= new

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
            self.note(self.reporter.uninitialised(read.allocation, cell, lane, line, self.space))
