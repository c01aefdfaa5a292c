"""Hopper's copies (TMA) and products (wgmma) beside the threads: when each is carried out.

A thread starts them (`functions/hopper_functions.py`) and goes on. When they take place is open
until somebody has waited for them: at once ("early"), as late as possible ("late"), or by chance.
Done early, one meets what a program may no longer touch; done late, what it may not touch yet. So
each is an **agent** of its own, which knows what the thread that started it knew. Observers
(`ordered_races.py`, `engine_faults.py`) say who may rely on it, by what was waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from course_lib.emulator.budget import Awaited
from course_lib.emulator.machine.events import Observers
from course_lib.emulator.state.hopper import Key, Onlooker, Phases
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Memory

Timing = Literal["early", "late", "by chance"]
TIMINGS: dict[str, Timing] = {"lockstep": "late", "warps": "early", "shuffled": "by chance"}


PRODUCT = "product"  # in the keys of what counts the warps that have started one


@dataclass(eq=False)
class EngineTask:
    """A copy or a product under way."""

    agent: int  # its number; negative, as those of lanes are not
    lane: int  # that started it, by its number in the space
    carry_out: Callable[[], None]  # does it
    # whether the thread waits for it by groups, in their order, as for a store
    in_group: bool = False
    # what is done before it in any case: products of one warpgroup keep their order
    after: Sequence[EngineTask] = ()


@dataclass(frozen=True)
class Waiting:
    """Lanes that wait at a barrier; `is_over` says whether they may go on."""

    key: Key
    lanes: Sequence[int]
    is_over: Callable[[Phases], bool]


class Engine:
    """The barriers of the blocks of one space, and what is under way for them.

    Attributes:
        barriers: those that have been made.
        changes: how often anything has happened that somebody may wait for.
    """

    def __init__(
        self, space: LaneSpace, memory: Memory, observers: Observers, timing: Timing, seed: int
    ) -> None:
        self.space, self.memory, self.observers = space, memory, observers
        self.barriers: dict[Key, Phases] = {}
        self.changes = 0
        self._timing = timing
        self._chance = np.random.default_rng((seed, 12))
        self._under_way: list[EngineTask] = []
        self._agents = 0
        self._groups: dict[int, list[EngineTask]] = {}  # of each lane, the oldest first
        # The products of each warp, by its first lane, with the warp's agents; and of how many of
        # them, in the second place, the warp in the first knows that they are done.
        self._products: dict[int, list[tuple[EngineTask, int]]] = {}
        self._seen: Counter[tuple[int, int]] = Counter()

    # -- barriers -----------------------------------------------------------------------------

    def make(self, key: Key, expected: int, line: int, maker: int | None = None) -> None:
        """Make a barrier, or make it anew."""
        self.barriers[key] = Phases(expected, line, maker=maker)
        self.changes += 1

    def fence(self, lanes: Collection[int], onlookers: Iterable[Onlooker]) -> None:
        """Let others see the barriers that these lanes have made."""
        for barrier in self.barriers.values():
            if barrier.maker in lanes:
                barrier.fenced_for.update(onlookers)

    def need_fence(self, key: Key, onlooker: Onlooker, line: int) -> None:
        """Tell if somebody uses a barrier in this line who need not see yet that it is there."""
        barrier = self.barriers[key]
        if barrier.maker is not None and onlooker not in barrier.fenced_for:
            self.observers.not_fenced(barrier.maker, onlooker, barrier.line, line)

    def arrive(self, key: Key, who: Iterable[int], line: int, announced: int = 0) -> None:
        """Threads arrive."""
        barrier, lanes = self.barriers[key], list(who)
        self.observers.signal((key, barrier.phase), lanes, True, line)
        self.changes += 1
        barrier.arrived_in = line
        barrier.arrive(len(lanes), announced)
        if barrier.is_awaited and not announced and barrier.phase - barrier.passed > 2:
            self.observers.runs_ahead(line, barrier.line, barrier.expected)

    def parts(self, key: Key, count: int, row: int) -> list[tuple[int, int]]:
        """From where to where so many bytes come at once, in whole rows.

        If the barrier was told of fewer bytes, its phase is over once those are there.
        """
        barrier = self.barriers.get(key)
        if barrier is None or barrier.missing or not row <= barrier.bytes < count:
            return [(0, count)]
        enough = barrier.bytes // row * row
        return [(0, enough), (enough, count)]

    def phase_of(self, key: Key) -> int:
        """The number of the phase that is under way."""
        barrier = self.barriers.get(key)
        return barrier.phase if barrier else 0

    def come(self, key: Key, agent: int, count: int, phase: int, line: int) -> None:
        """The bytes of a copy have come, which was started in this phase and line.

        A GPU goes on as soon as the announced bytes are there, whatever is still to come.
        """
        barrier = self.barriers.get(key)
        if barrier is not None:
            is_late = barrier.phase > phase
            self.observers.signal((key, barrier.phase), [agent], True, line)
            barrier.come(count)
            if is_late or (barrier.missing <= 0 and barrier.bytes < 0):
                self.observers.too_many_bytes(barrier.arrived_in, line)

    def awaited(self, line: int, waiting: Waiting) -> Awaited:
        """What lanes wait for that does not come."""
        is_product = waiting.key[0] == PRODUCT
        return Awaited(line, waiting.lanes[0], self.barriers[waiting.key], is_product)

    def passed(self, key: Key, who: Iterable[int], phase: int) -> None:
        """Threads have seen that a phase is complete."""
        barrier = self.barriers[key]
        barrier.passed = max(barrier.passed, phase)
        self.observers.signal((key, phase), list(who), False, 0)

    # -- what is under way --------------------------------------------------------------------

    def agent(self, lanes: Iterable[int]) -> int:
        """A new agent; it knows what these lanes know."""
        self._agents -= 1
        self.observers.handed_over(self._agents, list(lanes))
        return self._agents

    def start(self, task: EngineTask) -> None:
        """Let a task be under way; it is done at once if that is how it is to be."""
        self._under_way.append(task)
        self.changes += 1
        if task.in_group:
            self._groups.setdefault(task.lane, []).append(task)
        if self._timing == "early" or (self._timing == "by chance" and self._chance.random() < 0.5):
            self.land(task)

    def land(self, task: EngineTask) -> None:
        """Do it now, and before it what has to be done before."""
        for before in task.after:
            if before in self._under_way:
                self.land(before)
        self._under_way.remove(task)
        task.carry_out()
        self.changes += 1

    def land_next(self) -> bool:
        """Do what was started first; False if there is nothing."""
        if not self._under_way:
            return False
        by_chance = self._timing == "by chance"
        place = int(self._chance.integers(len(self._under_way))) if by_chance else 0
        self.land(self._under_way[place])
        return True

    def wait_for_groups(self, lane: int, left: int) -> None:
        """Let a lane's groups be done, but for the newest `left`."""
        own = self._groups.get(lane, [])
        for task in own[: max(len(own) - left, 0)]:
            self._land_if_under_way(task)
            self.observers.waited_for(task.agent, [lane])
        self._groups[lane] = own[max(len(own) - left, 0) :]

    def start_product(
        self,
        group: Sequence[int],
        warps: Sequence[int],
        task: EngineTask,
        agents: Sequence[int],
        line: int,
    ) -> None:
        """Let a product of some warps of a group be under way; each of them has an agent.

        Warps are named by their first lanes. A product is one of all four: it is done when the
        shares of all of them are (PTX ISA, "wgmma.commit_group").
        """
        task.after = [own[-1][0] for warp in warps if (own := self._products.get(warp))]
        for warp, agent in zip(warps, agents, strict=True):
            own = self._products.setdefault(warp, [])
            key = PRODUCT, group[0], len(own)
            if key not in self.barriers:
                self.make(key, len(group), line)
            self.barriers[key].arrive()
            own.append((task, agent))
        self.start(task)

    def products_of(self, group: Sequence[int], warp: int, left: int) -> Key | None:
        """What tells that all warps have started what one waits for, all but its newest `left`."""
        count = len(self._products.get(warp, ())) - left
        return (PRODUCT, group[0], count - 1) if count > 0 else None

    def products_are_done(self, key: Key, group: Sequence[int], lanes: Sequence[int]) -> None:
        """Let the products of a group be done as far as a warp has waited for them."""
        count = int(key[2]) + 1
        for warp in group:
            begin = self._seen[lanes[0], warp]
            for task, agent in self._products[warp][begin:count]:
                self._land_if_under_way(task)
                self.observers.waited_for(agent, lanes)
            self._seen[lanes[0], warp] = max(begin, count)

    def _land_if_under_way(self, task: EngineTask) -> None:
        if task in self._under_way:
            self.land(task)

    def finish(self) -> None:
        """The kernel ends: all is done."""
        while self.land_next():
            pass

    def tell_unawaited(self) -> None:
        """Tell of the lines whose mbarriers see arrivals, and nobody who waits."""
        made = {key: made for key, made in self.barriers.items() if isinstance(key[0], int)}
        awaited = {barrier.line for barrier in made.values() if barrier.is_awaited}
        for key, barrier in made.items():
            arrived = barrier.missing < barrier.expected or barrier.phase
            if arrived and barrier.line not in awaited:
                self.observers.never_awaited(key, barrier.line)
