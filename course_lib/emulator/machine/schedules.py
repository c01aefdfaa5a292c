"""Runs warps one after another instead of all together, each up to its next barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from course_lib.emulator.machine.events import Observers
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask


class WarpSchedule:
    """Runs one warp after another, each up to its next barrier, in a chosen order.

    Every warp (the same warp of all blocks at once) has a machine of its own, which `machine`
    makes. `seed` shuffles the warps; without one they keep their order.
    """

    def __init__(
        self,
        space: LaneSpace,
        machine: Callable[[Mask], Machine],
        observers: Observers,
        seed: int | None,
    ) -> None:
        self.space = space
        self.observers = observers
        self.order = None if seed is None else np.random.default_rng(seed)
        warp_of_thread = space.thread_in_block // WARP_SIZE
        self.warps = [
            _Warp(machine(Mask.of(space, warp_of_thread == number)))
            for number in range(space.warps_per_block)
        ]

    def run(self) -> None:
        """Run all warps to their ends."""
        running = self.warps
        while running:
            for warp in self._round():
                warp.go_on()
            running = [warp for warp in self.warps if not warp.ended]
            self._pass_barriers(running)

    def _round(self) -> list[_Warp]:
        if self.order is not None:
            return [self.warps[i] for i in self.order.permutation(len(self.warps))]
        return self.warps

    def _pass_barriers(self, waiting: list[_Warp]) -> None:
        """Every warp waits at a barrier or has ended: let those that wait pass."""
        live = self._union(warp.machine.frame.live for warp in waiting)
        by_line: dict[int, list[_Warp]] = {}
        for warp in waiting:
            by_line.setdefault(warp.line, []).append(warp)
        for line, group in by_line.items():
            arrived = self._union(warp.machine.active for warp in group)
            self.observers.barrier(line, arrived, live)

    def _union(self, masks: Iterable[Mask]) -> Mask:
        whole = Mask.of(self.space, np.False_)
        for mask in masks:
            whole = whole.union(mask)
        return whole


class _Warp:
    """One warp of a warp schedule; `line` is that of the barrier at which it waits."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.steps = self.machine.run()
        self.ended = False
        self.line = 0

    def go_on(self) -> None:
        """Run up to the next barrier, or to the end."""
        line = None if self.ended else next(self.steps, None)
        self.ended = line is None
        self.line = line or 0
