"""Runs a kernel for its numbers alone: nothing is counted, and no fault is told."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from course_lib.emulator.arguments import types_of_arguments
from course_lib.emulator.budget import StepCounter
from course_lib.emulator.inference.infer import infer
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.limits import LimitNotes
from course_lib.emulator.options import EmulationOptions, LaunchShape
from course_lib.emulator.run import Run
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Allocation, Memory


class OutsideNotes(Observer):
    """In which copy of a launch a lane leaves an array."""

    def __init__(self, copies: int) -> None:
        self.outside = np.zeros(copies, bool)
        self.first = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.first = space.first_block[0]
        self.count = space.blocks[0]

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        if fault.kind == "outside" and fault.lanes is not None:
            lanes = fault.lanes.array
            rows = np.True_ if lanes is None else lanes.any(axis=(1, 2, 3, 4, 5))
            self.outside[self.first : self.first + self.count] |= rows


class _Unwatched(Run):
    notes_writes = False
    only: tuple[int, int] | None = None  # the one block (x, y) that runs, with every z

    def run_all(self) -> None:
        if self.only is None:
            super().run_all()
            return
        (x, y), (wide, high, copies) = self.only, self.shape.grid
        threads = self.shape.block[::-1]
        step = max(1, self._lanes_at_once() // prod(threads))
        for first in range(0, copies, step):
            blocks = (min(step, copies - first), 1, 1)
            space = LaneSpace((copies, high, wide), (first, y, x), blocks, threads, self.shape.rows)
            self._run_space(space, self.steps)

    def _own_observers(self, limits: LimitNotes | None) -> Iterator[Observer]:
        return iter(())

    def run_for_numbers(self) -> int:
        """Run all blocks; how many steps that took.

        Raises BudgetExceeded if there are not enough.
        """
        self.steps = StepCounter(self.options.budget)
        with np.errstate(all="ignore"):
            self.run_all()
        self.memory.copy_back()
        return self.options.budget.steps - self.steps.left


def typing_for(kernel: Kernel, arguments: Sequence[Any]) -> Typing:
    """A kernel's types for these arguments. Raises KernelRejected as Numba's compiler would."""
    return infer(kernel, types_of_arguments(kernel, tuple(arguments)))


def run_unwatched(
    typing: Typing,
    arguments: Sequence[Any],
    shape: LaunchShape,
    options: EmulationOptions,
    notes: Sequence[Observer] = (),
    only: tuple[int, int] | None = None,
) -> int:
    """Launch a kernel whose types are known; the arrays are changed. Returns the steps taken.

    With `only`, no block but that one, (x, y), runs, with every z of the grid.
    """
    run = _Unwatched(typing, arguments, shape, options, notes, None)
    run.only = only
    return run.run_for_numbers()
