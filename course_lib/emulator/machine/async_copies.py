"""Copies from global to shared memory that go on while the threads do something else.

`cp_async16` starts a copy of 16 bytes, `cp_async4` one of 4. When its values land is left open
until the thread that started it has waited for it, so the emulator lets them land as late as
possible: in the `cp_async_wait` that covers their group. Until then the cells keep what was there
before, and an access to them is a race, even by the same thread. A store of a copy counts twice
for the race detector, when it starts and when it lands: it may take place anywhere between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.emulator.machine.load_store import LoadStoreUnit
from course_lib.emulator.state.lanes import Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation, ArrayView, CopyStories, Memory

ZERO = np.int64(0)


class CellsUnderWay:
    """The cells of one shared array into which copies are on their way: the copies' lines."""

    def __init__(self, allocation: Allocation, memory: Memory) -> None:
        self.count = 0
        self._allocation = allocation
        self._memory = memory
        self._lines = np.zeros(allocation.storage.size, np.int32)
        self.makers: list[AsyncCopies] = []  # each warp's own, if the warps run apart

    def lines_at(self, cell: Value, elements: int) -> Value:
        """For each lane the line of a copy into its cell or its neighbours; 0 if there is none."""
        place = self._memory.place(self._allocation, cell)
        lines = self._lines.take(place)
        for i in range(1, elements):
            lines = np.maximum(lines, self._lines.take(place + np.int64(i)))
        return lines

    def stories_at(self, cell: Value, elements: int) -> CopyStories:
        """What is known of the copies into each lane's cell or its neighbours."""
        starters = np.full(self._lines.size, -1)
        known = np.zeros((4, self._lines.size), np.int64)
        for maker in self.makers:
            for access, *facts in maker.under_way_to(self._allocation):
                lanes = np.flatnonzero(access.mask.full_array)
                of_lanes = [
                    spread(fact, self._memory.space.shape).reshape(-1)[lanes] for fact in facts
                ]
                first = self._places(access)
                for i in range(access.elements):
                    starters[first + i] = lanes
                    known[:, first + i] = of_lanes
        place = self._memory.place(self._allocation, cell)
        places = spread(place, self._memory.space.shape).reshape(-1)
        near = np.minimum(places[:, None] + np.arange(elements), self._lines.size - 1)
        is_open, was_missed, lets_go, idle_at = known[:, near].max(axis=2)
        return CopyStories(
            starters[near].max(axis=1), is_open > 0, was_missed > 0, lets_go, idle_at
        )

    def _places(self, access: Access) -> np.ndarray:
        """The first place of each active lane's access."""
        place = self._memory.place(self._allocation, access.cell)
        place = np.broadcast_to(place, self._memory.space.shape)
        return place.reshape(-1) if access.mask.array is None else place[access.mask.full_array]

    def set_line(self, access: Access, line: int) -> None:
        """Note a copy into what each active lane accesses; with line 0, that it has landed."""
        first = self._places(access)
        for i in range(access.elements):
            self._lines[first + i] = line


@dataclass(frozen=True, eq=False)
class _Copy:
    """What one call started, for some lanes; `group` is the group's number in its lane.

    Of each lane's last wait since: `was_missed` says whether one came while the group had not been
    closed, `lets_go` how many of the newest groups it left, and `idle_at` its line if it left this
    one and nothing landed there.
    """

    access: Access
    values: Sequence[Value]
    group: Value
    was_missed: Value = np.False_
    lets_go: Value = ZERO
    idle_at: Value = ZERO


class AsyncCopies:
    """The copies of one machine's lanes that have not landed, and the groups they belong to."""

    def __init__(self, unit: LoadStoreUnit, everyone: Mask) -> None:
        self._unit = unit
        self._everyone = everyone
        self._under_way: list[_Copy] = []
        # How many groups each lane has closed; a scalar as long as all lanes agree.
        self._closed: Value = np.int64(0)

    def under_way_to(self, allocation: Allocation) -> Iterator[tuple[Access, *tuple[Value, ...]]]:
        """The copies into an array; for which lanes their group is open, and what waits did."""
        for copy in self._under_way:
            if copy.access.allocation is allocation:
                is_open = copy.group == self._closed
                yield copy.access, is_open, copy.was_missed, copy.lets_go, copy.idle_at

    def start(
        self,
        target: tuple[ArrayView, Value],
        source: tuple[ArrayView, Value],
        elements: int,
        valid: Value,
        active: Mask,
        line: int,
    ) -> None:
        """Start to copy so many elements for each active lane; zeros where `valid` is false."""
        view, index = target
        read = active.where(valid)
        values: Sequence[Value] = list(self._unit.load_wide(*source, elements, read, line))
        if read is not active:
            values = tuple(np.where(valid, value, value.dtype.type(0)) for value in values)
        cell, mask = self._unit.flat_cells(view, index, elements, active, line)
        if mask.empty:
            return
        access = self._unit.observe("copy", view, cell, mask, line, len(values))
        assert access is not None
        self._cells_of(view.allocation).set_line(access, line)
        self._cells_of(view.allocation).count += 1
        self._under_way.append(_Copy(access, values, self._closed))

    def _cells_of(self, allocation: Allocation) -> CellsUnderWay:
        if not isinstance(allocation.copies, CellsUnderWay):
            allocation.copies = CellsUnderWay(allocation, self._unit.memory)
        if self not in allocation.copies.makers:
            allocation.copies.makers.append(self)
        return allocation.copies

    def commit(self, active: Mask) -> None:
        """Close each active lane's group."""
        if active.lanes == self._everyone.lanes:
            self._closed = self._closed + np.int64(1)
        else:
            self._closed = self._closed + active.full_array.astype(np.int64)

    def wait(self, groups: int, active: Mask, line: int) -> None:
        """Let the copies of all closed groups but the newest `groups` of each active lane land."""
        still: list[_Copy] = []
        has_waited: Value = np.False_
        for copy in self._under_way:
            landing = _common(copy.access.mask, active).where(
                copy.group < self._closed - np.int64(groups)
            )
            rest = copy.access.mask.without(landing)
            if not landing.empty:
                self._land(copy, landing, line)
                self._cells_of(copy.access.allocation).count -= rest.empty
                has_waited = has_waited | landing.full_array
            if not rest.empty:
                still.append(replace(copy, access=replace(copy.access, mask=rest)))
        waits = active.full_array
        self._under_way = [
            replace(
                copy,
                was_missed=copy.was_missed | (waits & (copy.group == self._closed)),
                lets_go=np.where(waits, groups, copy.lets_go),
                idle_at=np.where(
                    waits, line * (~has_waited & (copy.group < self._closed)), copy.idle_at
                ),
            )
            for copy in still
        ]

    def _land(self, copy: _Copy, mask: Mask, line: int) -> None:
        unit = self._unit
        landed = (*unit.moment, line)
        access = replace(copy.access, mask=mask, interval=unit.interval, landed=landed)
        for i, value in enumerate(copy.values):
            self._unit.write(access.allocation, access.cell + np.int64(i), mask, value)
        self._cells_of(access.allocation).set_line(access, 0)
        self._unit.observers.landed(access)


def _common(one: Mask, other: Mask) -> Mask:
    """The lanes active in both."""
    return one if other.array is None else one.where(other.array)
