"""Runs warps one after another instead of all together, each up to its next barrier."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.budget import StepCounter
from course_lib.emulator.instruments import Part
from course_lib.emulator.lanes import WARP_SIZE, Mask
from course_lib.emulator.machine import Machine
from course_lib.emulator.memory import Memory

if TYPE_CHECKING:
    from course_lib.emulator.run import Run


class _Stop(Exception):
    """Ends the threads of a warp schedule early."""


def _no_turn() -> threading.Lock:
    """A turn that somebody has to give before it can be taken."""
    turn = threading.Lock()
    turn.acquire()
    return turn


def _give(turn: threading.Lock) -> None:
    if turn.locked():
        turn.release()


class WarpSchedule:
    """Runs one warp after another, each up to its next barrier, in a chosen order.

    Every warp (the same warp of all blocks at once) has a machine of its own in a thread of its
    own, but only the one that holds the turn runs; so a run is the same every time.
    """

    def __init__(self, run: Run, part: Part, memory: Memory, steps: StepCounter) -> None:
        self.run_ = run
        self.part = part
        space = part.space
        self.steps = steps
        self.order = np.random.default_rng(run.options.seed)
        self.errors: list[BaseException] = []
        self.stopping = False
        self.main_turn = _no_turn()
        warp_of_thread = space.thread_in_block // WARP_SIZE
        self.warps = [
            _Warp(self, memory, steps, Mask.of(space, warp_of_thread == number))
            for number in range(space.warps_per_block)
        ]

    def run(self) -> None:
        """Run all warps to their ends."""
        threads = [threading.Thread(target=warp.main, daemon=True) for warp in self.warps]
        for thread in threads:
            thread.start()
        try:
            while not self.errors and any(not warp.ended for warp in self.warps):
                for warp in self._round():
                    if not warp.ended and not self.errors:
                        _give(warp.turn)
                        self.main_turn.acquire()
                if not self.errors:
                    self._pass_barriers()
        except KeyboardInterrupt:
            self.steps.stop()  # also a warp that never comes to a barrier ends at its next step
            raise
        finally:
            self._stop(threads)
        if self.errors:
            raise self.errors[0]

    def _round(self) -> list[_Warp]:
        if self.run_.options.schedule == "shuffled":
            return [self.warps[i] for i in self.order.permutation(len(self.warps))]
        return self.warps

    def _pass_barriers(self) -> None:
        """Every warp waits at a barrier or has ended: let those that wait pass."""
        waiting = [warp for warp in self.warps if not warp.ended]
        live = self._union(warp.machine.frame.live for warp in waiting)
        by_line: dict[int, list[_Warp]] = {}
        for warp in waiting:
            by_line.setdefault(warp.line, []).append(warp)
        for line, group in by_line.items():
            arrived = self._union(warp.machine.active for warp in group)
            self.part.pass_barrier(line, arrived, live)

    def _union(self, masks: Iterable[Mask]) -> Mask:
        whole = Mask.of(self.part.space, np.False_)
        for mask in masks:
            whole = whole.union(mask)
        return whole

    def _stop(self, threads: list[threading.Thread]) -> None:
        self.stopping = True
        for warp, thread in zip(self.warps, threads, strict=True):
            while thread.is_alive():
                _give(warp.turn)
                thread.join(0.05)


class _Warp:
    """One warp of a warp schedule."""

    def __init__(
        self, schedule: WarpSchedule, memory: Memory, steps: StepCounter, active: Mask
    ) -> None:
        self.schedule = schedule
        self.turn = _no_turn()
        self.ended = False
        self.line = 0
        run, part = schedule.run_, schedule.part
        self.machine = run.machine(part, memory, active, steps, self.wait)

    def main(self) -> None:
        """The body of this warp's thread."""
        self.turn.acquire()
        try:
            if not self.schedule.stopping:
                with np.errstate(all="ignore"):
                    self.machine.run()
        except _Stop:
            pass
        except BaseException as error:
            self.schedule.errors.append(error)
        finally:
            self.ended = True
            _give(self.schedule.main_turn)

    def wait(self, machine: Machine, line: int) -> int:
        """Arrive at a barrier: hand the turn back, and go on when all have arrived."""
        self.line = line
        _give(self.schedule.main_turn)
        self.turn.acquire()
        if self.schedule.stopping:
            raise _Stop
        return machine.unit.interval + 1
