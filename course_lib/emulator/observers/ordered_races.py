"""Finds races where atomic operations and fences order threads: locks, flags, the last block.

What a thread did before a fence and an atomic operation is done for whoever finds the result of
that operation by an atomic operation of its own, and for all to whom that one hands it on in the
same way, or at a barrier (CUDA Programming Guide, "Memory Fence Functions"; the order is called
causality there, happens-before elsewhere). So every access is kept with its time, and of each two
accesses to a cell that follow each other it is asked whether what happened between orders them.
Another schedule may show another course of events, and more races.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.emulator.language.intrinsics import Scope
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.race_search import KINDS
from course_lib.emulator.observers.races import MAX_REPORTED, Race, code_of
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory

MAX_LANES = 4_000_000  # of all accesses together; what comes later is not looked at
MAX_EVENTS = 200_000  # fences and atomic operations, thread by thread; the same
# So many fences and atomic operations are gone through for each two lines, all pairs together.
MAX_SEARCHED = 1_000_000
NAMES = {number: kind for kind, number in KINDS.items() if kind != "copy"}
STORE, ATOMIC, LOAD = KINDS["store"], KINDS["atomic"], KINDS["load"]


@dataclass(frozen=True)
class Synchronisation:
    """A fence of a thread, or an atomic operation of its on the cell `at`, at a time.

    `interval` is how many barriers its block had passed. A fence has a `scope`; of an operation it
    is told whether it changed the cell.
    """

    time: int
    thread: int
    block: int
    interval: int
    at: tuple[int, int] | None = None
    changes: bool = False
    scope: Scope = "grid"


@dataclass(frozen=True, eq=False)
class Touches:
    """What the lanes of accesses touched, one entry each; all of the same length.

    `array` numbers the arrays, `cell` tells the cells of different blocks apart, `round` counts the
    barriers of the grid, `synced` the `syncwarp` that a lane had passed. `access` numbers accesses.
    """

    array: np.ndarray
    cell: np.ndarray
    kind: np.ndarray
    line: np.ndarray
    time: np.ndarray
    thread: np.ndarray
    interval: np.ndarray
    synced: np.ndarray
    round: np.ndarray
    access: np.ndarray

    def of(self, which: np.ndarray) -> Touches:
        """Some of the entries."""
        return Touches(*(column[which] for column in vars(self).values()))


class OrderedRaces(Observer):
    """Keeps what touches the arrays that a kernel writes, and judges it when the launch has ended.

    Args:
        grid: the grid's size, (z, y, x).
        threads: the block's size, (z, y, x).
        written_globals: the global arrays that the kernel writes, by id.
    """

    spaces = ("global", "shared")

    def __init__(
        self,
        grid: tuple[int, int, int],
        threads: tuple[int, int, int],
        written_globals: set[int],
    ) -> None:
        self._grid, self._threads = grid, threads
        self._size = math.prod(threads)
        self._written_globals = written_globals
        self._time = self._round = self._lanes = 0
        self._intervals = np.zeros(math.prod(grid), np.int32)
        self._synced = np.zeros(math.prod(grid) * self._size, np.int32)
        self._arrays: dict[tuple[str, int | None], tuple[int, Allocation]] = {}
        self._kept: list[Touches] = []
        self._orders: list[tuple[int, ...]] = []  # of each access, its place in the program
        self._events: list[Synchronisation] = []

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._space = space
        numbers = space.block_in_grid * self._size + space.thread_in_block
        self._numbers = np.ascontiguousarray(numbers).reshape(-1)

    def _who(self, mask: Mask) -> np.ndarray:
        """The threads of a mask, by their numbers in the grid."""
        if mask.array is None:
            return self._numbers
        return self._numbers[np.flatnonzero(mask.full_array)]

    # -- what orders ------------------------------------------------------------------------

    def fence(self, mask: Mask, scope: Scope) -> None:
        self._time += 1
        who = self._who(mask)
        self._note_events(who, [None] * len(who), [False] * len(who), scope)

    def syncwarp(self, mask: Mask) -> None:
        who = self._who(mask)
        warps = who // self._size * self._space.warps_per_block + who % self._size // WARP_SIZE
        furthest: dict[int, int] = defaultdict(int)
        for warp, count in zip(warps.tolist(), self._synced[who].tolist(), strict=True):
            furthest[warp] = max(furthest[warp], count)
        self._synced[who] = [furthest[warp] + 1 for warp in warps.tolist()]

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self._intervals[np.unique(self._who(arrived) // self._size)] += 1

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self._round += 1
        self._intervals += 1

    def _note_events(
        self,
        who: np.ndarray,
        at: Sequence[tuple[int, int] | None],
        changes: Sequence[bool],
        scope: Scope = "grid",
    ) -> None:
        if len(self._events) + len(who) > MAX_EVENTS:
            return
        blocks = who // self._size
        facts = zip(
            who.tolist(),
            blocks.tolist(),
            self._intervals[blocks].tolist(),
            at,
            changes,
            strict=True,
        )
        self._events += [Synchronisation(self._time, *fact, scope) for fact in facts]

    # -- what is ordered --------------------------------------------------------------------

    def landed(self, access: Access) -> None:
        self.access(access)

    def access(self, access: Access) -> None:
        """Keep an access to shared memory, or to a global array that is also written."""
        allocation, mask = access.allocation, access.mask
        is_global = allocation.space == "global"
        if mask.empty or (is_global and id(allocation.root) not in self._written_globals):
            return
        if self._lanes > MAX_LANES:
            return
        self._time += 1
        name = (allocation.name, id(allocation) if is_global else allocation.line)
        number, _ = self._arrays.setdefault(name, (len(self._arrays), allocation))
        who = self._who(mask)
        cells = spread(access.cell, self._space.shape).reshape(-1)
        if mask.array is not None:
            cells = cells[np.flatnonzero(mask.full_array)]
        cells, who = access.each_cell(cells, who)
        if not is_global:
            cells = cells * len(self._intervals) + who // self._size
        if access.kind == "atomic":
            changes = np.ones(len(who), bool) if access.changes is None else access.changes
            at = [(number, cell) for cell in cells.tolist()]
            self._note_events(who, at, changes.tolist())
        self._lanes += len(who)
        kind, place = KINDS[access.kind], len(self._kept)
        same = (number, kind, access.line, self._time, self._round, place)
        array, kinds, lines, times, rounds, places = (np.full(len(who), value) for value in same)
        intervals, synced = self._intervals[who // self._size], self._synced[who]
        self._orders.append(access.order)
        self._kept.append(
            Touches(array, cells, kinds, lines, times, who, intervals, synced, rounds, places)
        )

    # -- the verdict ------------------------------------------------------------------------

    @property
    def races(self) -> list[Race]:
        """The first pair of accesses that nothing orders, of each two lines."""
        if not self._kept:
            return []
        columns = zip(*(vars(touches).values() for touches in self._kept), strict=True)
        touches = Touches(*map(np.concatenate, columns))
        touches = touches.of(
            np.lexsort((touches.thread, touches.time, touches.cell, touches.array))
        )
        first, second = _in_conflict(touches, self._size)
        lines = np.stack([touches.array[first], touches.line[first], touches.line[second]])
        _, group = np.unique(lines, axis=1, return_inverse=True)
        found = []
        for number in range(int(group.max(initial=-1)) + 1):
            of_lines = np.flatnonzero(group.reshape(-1) == number)
            race = self._first_race(touches, first[of_lines], second[of_lines])
            found += [] if race is None else [race]
        return sorted(found, key=lambda race: race.same_warp)[:MAX_REPORTED]

    def _first_race(self, touches: Touches, first: np.ndarray, second: np.ndarray) -> Race | None:
        """Of pairs on the same two lines, the first that is in no order."""
        most = max(MAX_SEARCHED // max(len(self._events), 1), 8)
        chosen = np.unique(np.linspace(0, len(first) - 1, min(len(first), most)).astype(int))
        for one, other in zip(first[chosen].tolist(), second[chosen].tolist(), strict=True):
            if not self._is_ordered(touches, one, other, needs_fence=True):
                lacks_fence = self._is_ordered(touches, one, other, needs_fence=False)
                return self._race(touches, one, other, lacks_fence)
        return None

    def _is_ordered(self, touches: Touches, one: int, other: int, needs_fence: bool) -> bool:
        """Is it handed on that the access `one` has happened, until the `other` takes place?"""
        known = _Known(int(touches.thread[one]), int(touches.interval[one]), self._size)
        if not needs_fence:
            known.let_go(known.thread, known.block, int(touches.interval[one]))
        ends, far = (
            int(touches.time[other]),
            known.block != int(touches.thread[other]) // self._size,
        )
        for event in self._events[self._first_after(int(touches.time[one])) :]:
            if event.time >= ends:
                break
            if not far or event.scope == "grid":
                known.hear(event)
        return known.to(int(touches.thread[other]), int(touches.interval[other]))

    def _first_after(self, time: int) -> int:
        low, high = 0, len(self._events)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._events[middle].time <= time else (low, middle)
        return low

    def _race(self, touches: Touches, one: int, other: int, lacks_fence: bool) -> Race:
        if self._orders[touches.access[other]] < self._orders[touches.access[one]]:
            one, other = other, one
        threads = [int(touches.thread[which]) for which in (one, other)]
        blocks = [number // self._size for number in threads]
        places = [_place(block, self._grid) for block in blocks]
        number = int(touches.array[one])
        allocation = next(kept for place, kept in self._arrays.values() if place == number)
        cell = int(touches.cell[one])
        if allocation.space == "shared":
            cell //= len(self._intervals)
        kinds = [NAMES[int(touches.kind[which])] for which in (one, other)]
        warps = [(number // self._size, number % self._size // WARP_SIZE) for number in threads]
        return Race(
            code=code_of(*kinds),
            array=allocation.name,
            cell=allocation.element_name(cell),
            space=allocation.space,
            first_kind=kinds[0],
            first_line=int(touches.line[one]),
            first_thread=_place(threads[0] % self._size, self._threads),
            first_block=places[0],
            second_kind=kinds[1],
            second_line=int(touches.line[other]),
            second_thread=_place(threads[1] % self._size, self._threads),
            second_block=places[1],
            same_warp=warps[0] == warps[1],
            updates=_both_update(touches, one, other),
            lacks_fence=lacks_fence,
        )


class _Known:
    """To whom it has been handed on that one access has happened.

    A thread knows of it by itself, or from a barrier of its block. It hands it on by an atomic
    operation, if it knew it before its last fence, or has it from an atomic operation itself.
    """

    def __init__(self, thread: int, interval: int, block_size: int) -> None:
        self.thread, self.block = thread, thread // block_size
        self._size = block_size
        self._threads, self._fenced = {thread}, set[int]()
        # From which interval of a block on all of its threads know it, and may hand it on.
        self._blocks, self._blocks_fenced = {self.block: interval}, dict[int, int]()
        self._cells: set[tuple[int, int]] = set()

    def to(self, thread: int, interval: int) -> bool:
        """Does this thread know it, in this interval?"""
        return thread in self._threads or _since(self._blocks, thread // self._size, interval)

    def let_go(self, thread: int, block: int, interval: int) -> None:
        """A thread that knows it is free to hand it on."""
        self._fenced.add(thread)
        self._blocks_fenced[block] = min(interval, self._blocks_fenced.get(block, interval))

    def hear(self, event: Synchronisation) -> None:
        """A fence, or an atomic operation, takes place."""
        thread, block, interval = event.thread, event.block, event.interval
        if event.at is None:
            if self.to(thread, interval):
                self.let_go(thread, block, interval)
            return
        free = thread in self._fenced or _since(self._blocks_fenced, block, interval)
        if event.at in self._cells:
            self._threads.add(thread)
            self._blocks[block] = min(interval, self._blocks.get(block, interval))
            self.let_go(thread, block, interval)
        elif free and event.changes:
            self._cells.add(event.at)


def _since(intervals: dict[int, int], block: int, interval: int) -> bool:
    """Has the block passed a barrier since the interval that is noted for it?"""
    known = intervals.get(block)
    return known is not None and known < interval


def _in_conflict(touches: Touches, block_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of entries that touch one cell one after the other, with no barrier between them.

    Only neighbours in time have to be looked at: if each is in order with the next, all are.
    """
    kind, count = touches.kind, len(touches.kind)
    entries = np.arange(count)
    begins = np.flatnonzero(
        (np.diff(touches.cell, prepend=-1) != 0) | (np.diff(touches.array, prepend=-1) != 0)
    )
    start = np.repeat(begins, np.diff(begins, append=count))
    end = np.repeat(np.append(begins[1:], count), np.diff(begins, append=count))

    def before(which: int) -> np.ndarray:
        last = np.maximum.accumulate(np.where(kind == which, entries, -1))
        last = np.concatenate([[-1], last[:-1]])
        return np.where(last >= start, last, -1)

    def after(which: int) -> np.ndarray:
        following = np.minimum.accumulate(np.where(kind == which, entries, count)[::-1])[::-1]
        following = np.append(following[1:], count)
        return np.where(following < end, following, -1)

    loads, others = entries[kind == LOAD], entries[kind != STORE]
    pairs = [
        (before(STORE), entries),
        (before(ATOMIC)[loads], loads),
        (others, after(STORE)[others]),
        (loads, after(ATOMIC)[loads]),
    ]
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    met = (first >= 0) & (second >= 0)
    first, second = first[met], second[met]
    one, other = touches.of(first), touches.of(second)
    same_block = one.thread // block_size == other.thread // block_size
    same_warp = same_block & (
        one.thread % block_size // WARP_SIZE == other.thread % block_size // WARP_SIZE
    )
    ordered = (one.thread == other.thread) | (one.round < other.round)
    ordered |= same_block & (one.interval < other.interval)
    ordered |= same_warp & (one.synced < other.synced)
    return first[~ordered], second[~ordered]


def _both_update(touches: Touches, one: int, other: int) -> bool:
    """Do both threads read the cell and write it back, all on one line?"""
    line = touches.line[one]
    if line != touches.line[other]:
        return False
    here = (touches.array == touches.array[one]) & (touches.cell == touches.cell[one])
    done = {
        (int(thread), int(kind))
        for thread, kind in zip(
            touches.thread[here & (touches.line == line)],
            touches.kind[here & (touches.line == line)],
            strict=True,
        )
    }
    both = {int(touches.thread[one]), int(touches.thread[other])}
    return {(thread, kind) for thread in both for kind in (LOAD, STORE)} <= done


def _place(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(index) for index in np.unravel_index(number, sizes))
    return x, y, z
