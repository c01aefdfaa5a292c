"""Runs machines in turns: all lanes together, or warp by warp, each up to where it has to wait.

A machine pauses at a barrier until all have arrived: of its blocks, or of the grid. Where a loop
waits for what other warps do by an atomic operation, a warp has to run on its own: it pauses after
each turn of the loop, and the others go on meanwhile, as they do on a GPU.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.language.intrinsics import Scope
from course_lib.emulator.machine.engine import Engine
from course_lib.emulator.machine.machine import Machine, Pause
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask

# So often all may look at what no one changes before it is clear that they wait for ever.
MOST_IDLE_ROUNDS = 2_000


class Unit:
    """Lanes that run together: a machine, and where it waits (None: nowhere yet).

    `blocks` is equal for units that have the same blocks.
    """

    def __init__(self, machine: Machine, blocks: int) -> None:
        self.machine = machine
        self.blocks = blocks
        self.ended = False
        self.pause: Pause | None = None
        self._steps = machine.run()

    def go_on(self) -> None:
        """Run up to the next pause, or to the end."""
        self.pause = next(self._steps, None)
        self.ended = self.pause is None

    def waits_for(self, scope: Scope) -> bool:
        return self.pause is not None and self.pause.scope == scope


class Schedule:
    """Runs units in turns until all have ended; `seed` shuffles them, without one they keep order.

    Observers are told who arrives at a barrier when all that can have come.
    """

    def __init__(self, units: Iterable[Unit], engine: Engine, seed: int | None) -> None:
        self._units = list(units)
        self._engine = engine
        self._order = None if seed is None else np.random.default_rng(seed)

    def run(self) -> None:
        """Run all units to their ends.

        Raises BudgetExceeded if the steps do not suffice, or all wait for what never comes.
        """
        idle, writes = 0, -1
        while running := [unit for unit in self._units if not unit.ended]:
            for unit in self._shuffled(running):
                if unit.pause is None or unit.waits_for("others"):
                    unit.go_on()
            self._pass_barriers([unit for unit in running if not unit.ended])
            so_far = sum(unit.machine.unit.writes for unit in self._units) + self._engine.changes
            waiting = [unit for unit in running if unit.waits_for("others")]
            idle = idle + 1 if waiting and so_far == writes else 0
            writes = so_far
            if idle and self._engine.land_next():
                idle = 0
            if idle == MOST_IDLE_ROUNDS or (idle and _wait_for_barriers(running)):
                raise self._in_vain(waiting)
        self._engine.finish()

    def _in_vain(self, waiting: list[Unit]) -> BudgetExceeded:
        """Units wait for what never comes."""
        awaited = {
            unit.pause.line: self._engine.awaited(unit.pause.line, unit.pause.awaited[0])
            for unit in waiting
            if unit.pause is not None and unit.pause.awaited
        }
        machine = waiting[0].machine
        loop = machine.loop_without_end()
        in_vain = loop and replace(loop, in_vain=True)
        # What stops first makes the others wait: the phase with the lower number.
        first = sorted(awaited.values(), key=lambda wait: (wait.barrier.phase, wait.line))
        return BudgetExceeded(machine.line, in_vain, first)

    def _shuffled(self, units: list[Unit]) -> list[Unit]:
        if self._order is None or len(units) == 1:
            return units
        return [units[i] for i in self._order.permutation(len(units))]

    def _pass_barriers(self, running: list[Unit]) -> None:
        """Let those pass for whose barrier all have arrived that still run."""
        busy = {unit.blocks for unit in running if unit.waits_for("others")}
        passing = [u for u in running if u.waits_for("block") and u.blocks not in busy]
        tell = self._engine.observers.barrier
        if not passing and all(unit.waits_for("grid") for unit in running):
            passing, tell = running, self._engine.observers.grid_barrier
        blocks = {unit.blocks for unit in passing}
        live = self._union(u.machine.frame.live for u in running if u.blocks in blocks)
        for line, arrived in self._arrived(passing):
            tell(line, arrived, live)
        for unit in passing:
            unit.pause = None

    def _arrived(self, units: list[Unit]) -> Iterator[tuple[int, Mask]]:
        """The lines at which units wait, and the lanes that have arrived there."""
        by_line: dict[int, list[Unit]] = {}
        for unit in units:
            assert unit.pause is not None
            by_line.setdefault(unit.pause.line, []).append(unit)
        for line, together in by_line.items():
            yield line, self._union(unit.machine.active for unit in together)

    def _union(self, masks: Iterable[Mask]) -> Mask:
        whole, *others = [*masks, Mask.of(self._engine.space, np.False_)]
        for mask in others:
            whole = whole.union(mask)
        return whole


def _wait_for_barriers(running: list[Unit]) -> bool:
    """Do all wait at barriers? Then nothing will change any more."""
    return all(unit.ended or (unit.pause and unit.pause.awaited) for unit in running)


def warps(space: LaneSpace, machine: Callable[[Mask], Machine]) -> Iterator[Unit]:
    """Every warp as a unit; the same warp of all blocks is one."""
    warp_of_thread = space.thread_in_block // WARP_SIZE
    for number in range(space.warps_per_block):
        yield Unit(machine(Mask.of(space, warp_of_thread == number)), 0)


def warps_of_blocks(space: LaneSpace, machine: Callable[[Mask], Machine]) -> Iterator[Unit]:
    """Every warp of every block as a unit of its own."""
    warp_of_thread = space.thread_in_block // WARP_SIZE
    for block in range(space.block_count):
        for number in range(space.warps_per_block):
            lanes = (space.block_here == block) & (warp_of_thread == number)
            yield Unit(machine(Mask.of(space, lanes)), block)
