"""Races in kernels with atomics, fences or Hopper's engine: locks, flags, mbarriers, TMA, wgmma.

It takes the place of both detectors of `races.py` where threads look at what atomics return, or a
kernel uses Hopper's engine.

What a thread did before a fence and an atomic operation is done for whoever finds the result of
that operation by an atomic operation of its own, and for all to whom that one hands it on in the
same way, or at a barrier (CUDA Programming Guide, "Memory Fence Functions"; the order is called
causality there, happens-before elsewhere). An arrival at an mbarrier hands on without a fence. What
goes on beside the threads, a copy of TMA or a product of wgmma, is an agent: it knows what the
thread knew that started it, and who has waited for it knows that it is done.

So every access is kept with its time, and for any two successive accesses to the same bytes it is
checked whether what happened between them orders them. Another schedule may show another course of
events, and more races.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from course_lib.emulator.language.intrinsics import Scope
from course_lib.emulator.machine.events import EngineAccess, Moment, Observer
from course_lib.emulator.observers.causality import Knowledge, Synchronisation
from course_lib.emulator.observers.race_search import KINDS
from course_lib.emulator.observers.races import MAX_REPORTED, Race, RacingAccess
from course_lib.emulator.state.hopper import base_of
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask
from course_lib.emulator.state.memory import Access, Allocation, Memory

MAX_ENTRIES = 4_000_000  # of all accesses together; what comes later is not looked at
MAX_EVENTS = 200_000  # fences, atomic operations, arrivals and waits; the same
# So many of them, thread by thread, are gone through for each two lines, all pairs together.
MAX_SEARCHED = 1_000_000
NAMES = {number: kind for kind, number in KINDS.items() if kind != "copy"}
STORE, ATOMIC, LOAD = KINDS["store"], KINDS["atomic"], KINDS["load"]


@dataclass(frozen=True, eq=False)
class Touches:
    """What was touched, one entry for each lane or piece; all of the same length.

    `first` is the byte in its memory, and `memory` 0 for the global one, 1 and up for the blocks'
    shared ones; `width` is how many bytes. `round` counts the barriers of the grid, `synced` the
    `syncwarp` that a lane had passed. `access` numbers accesses.
    """

    memory: np.ndarray
    first: np.ndarray
    width: np.ndarray
    kind: np.ndarray
    line: np.ndarray
    time: np.ndarray
    who: np.ndarray
    interval: np.ndarray
    synced: np.ndarray
    round: np.ndarray
    access: np.ndarray

    def of(self, which: np.ndarray) -> Touches:
        """Some of the entries."""
        return Touches(*(column[which] for column in vars(self).values()))

    @property
    def in_units(self) -> Touches:
        """The same, an entry for each of the largest units into which all can be cut."""
        sizes = np.gcd.reduce(self.width), np.gcd.reduce(self.first)
        unit = max(math.gcd(*map(int, sizes)), 1)
        counts = self.width // unit
        parts = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        apart = self.of(np.repeat(np.arange(len(counts)), counts))
        return replace(apart, first=apart.first + parts * unit, width=np.full(len(parts), unit))


class OrderedRaces(Observer):
    """Keeps what touches the arrays that a kernel writes, and judges it when the launch has ended.

    `grid` and `threads` are (z, y, x); `written_globals` are ids.
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
        self._time = self._round = self._kept_entries = 0
        blocks = math.prod(grid)
        self._everyone = blocks * self._size
        self._intervals = np.zeros(blocks, np.int32)
        self._synced = np.zeros(self._everyone, np.int32)
        self._agents: list[int] = []  # the thread that started each, and when
        self._started: list[int] = []
        self._kept: list[Touches] = []
        # Of each access, its place in the program, the array, and where that begins.
        self._accesses: list[tuple[tuple[int, ...], Allocation, int]] = []
        self._events: list[Synchronisation] = []
        self._lane_events = 0  # the same, thread by thread

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._space, self._memory = space, memory
        numbers = space.block_in_grid * self._size + space.thread_in_block
        self._numbers = np.ascontiguousarray(numbers).reshape(-1)

    def _who(self, mask: Mask) -> np.ndarray:
        """The threads of a mask, by their numbers in the grid."""
        if mask.array is None:
            return self._numbers
        return self._numbers[np.flatnonzero(mask.full_array)]

    def _number(self, lane_or_agent: int) -> int:
        """Agents are counted behind all threads; as blocks of their own, which no barrier orders"""
        if lane_or_agent < 0:
            return self._everyone + (-lane_or_agent - 1) * self._size
        return int(self._numbers[lane_or_agent])

    # -- what orders ------------------------------------------------------------------------

    def fence(self, mask: Mask, scope: Scope) -> None:
        self._time += 1
        self._note(self._who(mask).tolist(), "fence", scope=scope)

    def signal(self, at: Moment, who: Sequence[int], gives: bool, line: int) -> None:
        self._time += 1
        numbers = [self._number(lane) for lane in who]
        self._note(numbers, "give" if gives else "take", at=at[0], phase=at[1], line=line)

    def handed_over(self, agent: int, lanes: Sequence[int]) -> None:
        self._time += 1
        self._agents.append(self._number(lanes[0]))
        self._started.append(self._time)
        self._note([self._number(lane) for lane in lanes], "start", agent=self._number(agent))

    def waited_for(self, agent: int, lanes: Sequence[int]) -> None:
        self._time += 1
        self._note([self._number(lane) for lane in lanes], "join", agent=self._number(agent))

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

    def _note(self, who: Iterable[int], does: Any, **facts: Any) -> None:
        """Keep what some threads do at once, those of each block together."""
        for block, some in groupby(sorted(who), lambda number: number // self._size):
            if len(self._events) < MAX_EVENTS:
                those = tuple(some)
                interval = int(self._intervals[block]) if those[0] < self._everyone else 0
                kept = Synchronisation(self._time, those, block, interval, does, **facts)
                self._events.append(kept)
                self._lane_events += len(those)

    # -- what is ordered --------------------------------------------------------------------

    def landed(self, access: Access) -> None:
        self.access(access)

    def access(self, access: Access) -> None:
        """Keep an access to shared memory, or to a global array that is also written."""
        allocation, mask = access.allocation, access.mask
        if mask.empty or not self._is_kept(allocation):
            return
        self._time += 1
        cells, lanes = access.touched
        who = self._numbers[lanes]
        if access.kind == "atomic":
            changes = np.ones(len(who), bool) if access.changes is None else access.changes
            block = 0 if allocation.space == "global" else who // self._size
            places = zip(np.broadcast_to(block, who.shape).tolist(), cells.tolist(), strict=True)
            for number, place, changed in zip(who.tolist(), places, changes.tolist(), strict=True):
                self._note([number], "both" if changed else "take", at=(id(allocation), place))
        first = self._base(allocation) + cells.astype(np.int64) * allocation.spacing
        width = allocation.dtype.itemsize
        self._keep(
            access.kind, allocation, first, width, who, who // self._size, access.line, access.order
        )

    def by_agent(self, access: EngineAccess) -> None:
        if not self._is_kept(access.allocation):
            return
        self._time += 1
        who = np.full(len(access.starts), self._number(access.agent))
        first = self._base(access.allocation) + access.starts.astype(np.int64)
        block = int(self._numbers[max(access.block, 0) * self._size]) // self._size
        blocks = np.full(len(who), block)
        order = (access.line, self._time)
        self._keep(
            access.kind, access.allocation, first, access.width, who, blocks, access.line, order
        )

    def _is_kept(self, allocation: Allocation) -> bool:
        if allocation.space == "global" and id(allocation.root) not in self._written_globals:
            return False
        # Without the events that follow, what comes later would seem to be in no order.
        is_full = self._kept_entries >= MAX_ENTRIES or len(self._events) >= MAX_EVENTS
        return allocation.space != "local" and not is_full

    def _base(self, allocation: Allocation) -> int:
        """Where an array begins in its memory, in bytes."""
        if allocation.space == "global":
            return allocation.address
        return base_of(self._memory, allocation)

    def _keep(
        self,
        kind: str,
        allocation: Allocation,
        first: np.ndarray,
        width: int,
        who: np.ndarray,
        blocks: np.ndarray,
        line: int,
        order: tuple[int, ...],
    ) -> None:
        """Keep what some lanes, or an agent, touch: bytes from `first` on, in a block's memory."""
        count, threads = len(who), who < self._everyone
        own = np.where(threads, who, 0)
        memory = np.zeros(count, np.int64) if allocation.space == "global" else blocks + 1
        same = (width, KINDS[kind], line, self._time, self._round, len(self._accesses))
        widths, kinds, lines, times, rounds, access = (np.full(count, value) for value in same)
        intervals = np.where(threads, self._intervals[own // self._size], -1)
        synced = np.where(threads, self._synced[own], 0)
        self._kept.append(
            Touches(
                memory, first, widths, kinds, lines, times, who, intervals, synced, rounds, access
            )
        )
        self._kept_entries += count
        self._accesses.append((order, allocation, self._base(allocation)))

    # -- the verdict ------------------------------------------------------------------------

    @property
    def races(self) -> list[Race]:
        """The first pair of accesses that nothing orders, of each two lines."""
        if not self._kept:
            return []
        columns = zip(*(vars(touches).values() for touches in self._kept), strict=True)
        everything = Touches(*map(np.concatenate, columns))
        is_global = everything.memory == 0
        found: list[Race] = []
        for some in (everything.of(is_global), everything.of(~is_global)):
            if len(some.first):
                found += self._races_of(some.in_units)
        return sorted(found, key=lambda race: race.same_warp)[:MAX_REPORTED]

    def _races_of(self, touches: Touches) -> Iterator[Race]:
        order = np.lexsort((touches.who, touches.time, touches.first, touches.memory))
        touches = touches.of(order)
        first, second = _in_conflict(touches, self._size)
        lines = np.stack([touches.line[first], touches.line[second]])
        _, group = np.unique(lines, axis=1, return_inverse=True)
        for number in range(int(group.max(initial=-1)) + 1):
            of_lines = np.flatnonzero(group.reshape(-1) == number)
            race = self._first_race(touches, first[of_lines], second[of_lines])
            if race is not None:
                yield race

    def _first_race(self, touches: Touches, first: np.ndarray, second: np.ndarray) -> Race | None:
        """Of pairs on the same two lines, the first that is in no order."""
        first, second = _told_apart(touches, first, second)
        most = max(MAX_SEARCHED // max(self._lane_events, 1), 8)
        chosen = np.unique(np.linspace(0, len(first) - 1, min(len(first), most)).astype(int))
        for one, other in zip(first[chosen].tolist(), second[chosen].tolist(), strict=True):
            if not self._is_ordered(touches, one, other, needs_fence=True):
                lacks_fence = self._is_ordered(touches, one, other, needs_fence=False)
                return self._race(touches, one, other, lacks_fence)
        return None

    def _is_ordered(self, touches: Touches, one: int, other: int, needs_fence: bool) -> bool:
        """Is it handed on that the access `one` has happened, until the `other` takes place?"""
        known = Knowledge(int(touches.who[one]), int(touches.interval[one]), self._size)
        if not needs_fence:
            known.let_go(known.who, known.block, int(touches.interval[one]))
        ends, end = int(touches.time[other]), int(touches.who[other])
        far = known.block != end // self._size
        after = bisect_right(self._events, int(touches.time[one]), key=lambda event: event.time)
        for event in self._events[after:]:
            if event.time >= ends:
                break
            if not far or event.scope == "grid":
                known.hear(event)
        return known.to(end, int(touches.interval[other]))

    def _race(self, touches: Touches, one: int, other: int, lacks_fence: bool) -> Race:
        if self._begun(touches, other) < self._begun(touches, one):
            one, other = other, one
        agents = [int(touches.who[which]) >= self._everyone for which in (one, other)]
        threads = [self._thread(int(touches.who[which])) for which in (one, other)]
        _, allocation, begin = self._accesses[int(touches.access[one])]
        warps = [(thread // self._size, thread % self._size // WARP_SIZE) for thread in threads]
        return Race(
            allocation,
            allocation.element_name((int(touches.first[one]) - begin) // allocation.spacing),
            self._end(touches, one),
            self._end(touches, other),
            same_warp=warps[0] == warps[1],
            updates=not any(agents) and _both_update(touches, one, other),
            lacks_fence=lacks_fence,
            beside_threads=any(agents),
            released_in=self._released_in(touches, one, other, threads) if agents[0] else 0,
        )

    def _end(self, touches: Touches, which: int) -> RacingAccess:
        """An access as one of two; of an agent, that of the thread that has started it."""
        who, kind = int(touches.who[which]), NAMES[int(touches.kind[which])]
        if who >= self._everyone and kind == "store":
            kind = "copy"
        block, thread = divmod(self._thread(who), self._size)
        places = _place(block, self._grid), _place(thread, self._threads)
        return RacingAccess(kind, int(touches.line[which]), *places)

    def _released_in(self, touches: Touches, one: int, other: int, threads: Sequence[int]) -> int:
        """Where a thread of the warp that began `one` let the thread go on that began `other`."""
        begun, until = (self._begun(touches, which)[0] for which in (one, other))
        before = [event for event in self._events if event.time < until]
        takes = [event for event in before if event.does == "take" and threads[1] in event.who]
        if not takes:
            return 0
        warp = threads[0] // self._size, threads[0] % self._size // WARP_SIZE
        for event in before:
            at = event.at, event.phase
            if event.does != "give" or event.time < begun or at != (takes[-1].at, takes[-1].phase):
                continue
            if warp in {(who // self._size, who % self._size // WARP_SIZE) for who in event.who}:
                return event.line
        return 0

    def _begun(self, touches: Touches, which: int) -> tuple[int, ...]:
        """To sort accesses by: where they stand in the program; beside agents, when they began."""
        if not self._agents:
            return self._accesses[int(touches.access[which])][0]
        who = int(touches.who[which])
        if who < self._everyone:
            return (int(touches.time[which]),)
        return (self._started[(who - self._everyone) // self._size],)

    def _thread(self, who: int) -> int:
        """The thread that it is, or that has started it."""
        if who < self._everyone:
            return who
        return self._agents[(who - self._everyone) // self._size]


def _told_apart(
    touches: Touches, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of pairs of the same two accesses by the same two threads or agents the first alone.

    Whatever the cell, what orders one of them orders all.
    """
    pair = np.zeros(len(first), np.int64)
    for which in (first, second):
        for column in (touches.access[which], touches.who[which]):
            values, place = np.unique(column, return_inverse=True)
            _, pair = np.unique(pair * len(values) + place.reshape(-1), return_inverse=True)
    _, kept = np.unique(pair, return_index=True)
    kept.sort()
    return first[kept], second[kept]


def _in_conflict(touches: Touches, block_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of entries that touch one unit one after the other, with no barrier between them.

    Only neighbours in time have to be looked at: if each is in order with the next, all are.
    """
    kind, count = touches.kind, len(touches.kind)
    entries = np.arange(count)
    begins = np.flatnonzero(
        (np.diff(touches.first, prepend=-1) != 0) | (np.diff(touches.memory, prepend=-1) != 0)
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
    same_block = one.who // block_size == other.who // block_size
    same_warp = same_block & (
        one.who % block_size // WARP_SIZE == other.who % block_size // WARP_SIZE
    )
    ordered = (one.who == other.who) | (one.round < other.round)
    ordered |= same_block & (one.interval < other.interval)
    ordered |= same_warp & (one.synced < other.synced)
    return first[~ordered], second[~ordered]


def _both_update(touches: Touches, one: int, other: int) -> bool:
    """Do both threads read the cell and write it back, all on one line?"""
    line = touches.line[one]
    if line != touches.line[other]:
        return False
    here = (touches.memory == touches.memory[one]) & (touches.first == touches.first[one])
    here &= touches.line == line
    done = set(zip(touches.who[here].tolist(), touches.kind[here].tolist(), strict=True))
    both = {int(touches.who[one]), int(touches.who[other])}
    return {(who, kind) for who in both for kind in (LOAD, STORE)} <= done


def _place(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(index) for index in np.unravel_index(number, sizes))
    return x, y, z
