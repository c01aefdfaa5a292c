"""What threads read of each other in shared memory: kept in one launch, and given in another.

A launch that is given what was read there with other inputs shows what its shared memory is good
for: as far as the result is made of what threads hand on, it follows those other inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.lanes import LaneSpace, Value, spread
from course_lib.emulator.state.memory import Access, Memory

Place = tuple[int, int]  # which blocks of the launch, and a line of the kernel
NOBODY = -1  # or several threads


class HandedValues(Observer):
    """Hears who writes a cell of shared memory, and keeps what is read; see `loaded`.

    Args:
        given: of another launch, in the order in which each line read it: what a thread reads here
            instead, where another thread has written the cell.
    """

    spaces: ClassVar = ("shared",)

    def __init__(self, given: Mapping[Place, list[Value]] | None = None) -> None:
        self.kept: dict[Place, list[Value]] = defaultdict(list)
        self._given: dict[Place, Iterator[Value]] = {
            place: iter(values) for place, values in (given or {}).items()
        }
        self._spaces = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._spaces += 1
        self._memory, self._space = memory, space
        self._writers: dict[int, np.ndarray] = {}

    def access(self, access: Access) -> None:
        """Take note of who has written cells."""
        if access.kind == "load":
            return
        lanes = np.flatnonzero(access.mask.full_array)
        place = self._memory.place(access.allocation, access.cell)
        first = spread(place, self._space.shape).reshape(-1)[lanes]
        cells, who = access.each_cell(first, lanes)
        storage = access.allocation.storage
        writers = self._writers.setdefault(id(storage), np.full(storage.size, NOBODY))
        writers[cells] = who if access.kind == "store" else NOBODY

    def loaded(self, storage: np.ndarray, place: Value, value: Value, line: int) -> Value:
        """What the lanes get that read `value` there."""
        key = (self._spaces, line)
        self.kept[key].append(value)
        given = next(self._given.get(key, iter(())), None)
        writers = self._writers.get(id(storage))
        if given is None or writers is None or np.shape(given) != np.shape(value):
            return value
        return np.where(writers[place] != self._space.lane_number, given, value)
