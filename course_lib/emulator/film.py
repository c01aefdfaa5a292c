"""Films a small launch: what each access carried, what the variables held, who waited at a barrier.

A profile counts and a trace lists; neither knows a value. A film is the launch moment by moment,
for pictures that show numbers on their way. Nothing about the kernel is changed for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.budget import Budget
from course_lib.emulator.errors import rejection
from course_lib.emulator.launch import emulate
from course_lib.emulator.machine.events import Frame, Observer
from course_lib.emulator.profile.profile import Profile
from course_lib.emulator.run import LANES_AT_ONCE
from course_lib.emulator.state.lanes import LaneSpace, Mask
from course_lib.emulator.state.memory import Access, Memory

# A film of more statements is a kernel that does not end, or too long to watch.
FILM_BUDGET = Budget(steps=4_000)


@dataclass(frozen=True, eq=False)
class StartedStatement:
    """The lanes in `lanes` begin a statement; `variables` is what the kernel's names hold then."""

    line: int
    lanes: np.ndarray
    variables: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class MemoryOperation:
    """A memory operation: for each lane its index (lanes, axes) and the value it read or wrote."""

    kind: str
    space: str
    array: str
    line: int
    lanes: np.ndarray
    indices: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Arrival:
    """Lanes arrive at a barrier."""

    line: int
    lanes: np.ndarray


@dataclass(frozen=True, eq=False)
class Passing:
    """Lanes go on behind a barrier."""

    line: int
    lanes: np.ndarray


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """Every lane in `lanes` does so many floating-point operations."""

    line: int
    lanes: np.ndarray
    each: int


Moment = StartedStatement | MemoryOperation | Arrival | Passing | Arithmetic


@dataclass(frozen=True, eq=False)
class Film:
    """A launch, moment by moment. A lane is a thread's number in the launch, block after block."""

    profile: Profile  # what the emulator says of the launch
    space: LaneSpace
    moments: list[Moment]  # what happened, in the order in which it happened
    # the kernel's variables at its end, as the lanes that came last left them
    final: Mapping[str, Any]

    @property
    def block_size(self) -> int:
        """Threads of a block."""
        return self.space.block_size

    def lanes_of(self, block: tuple[int, int]) -> np.ndarray:
        """The lanes of the block (x, y), in the order of the threads' numbers."""
        number = block[1] * self.space.grid[2] + block[0]
        return np.arange(number * self.block_size, (number + 1) * self.block_size)

    def place(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread of a lane, each as (x, y, z)."""
        return self.space.describe(lane)

    def value(self, variables: Mapping[str, Any], name: str) -> np.ndarray | None:
        """A variable's value in every lane; None if it has none, or is no number."""
        held = variables.get(name)
        if not isinstance(held, np.ndarray | np.generic):
            return None
        return np.broadcast_to(held, self.space.shape).reshape(-1)


def film(
    kernel: object,
    grid: Any,
    block: Any,
    arguments: tuple[Any, ...],
    *,
    schedule: str = "lockstep",
    seed: int = 0,
) -> Film:
    """Run a small launch on the emulator and keep every moment of it.

    Raises KernelRejected if the kernel cannot run, or the launch is too large for a film.
    """
    emulation = emulate(kernel, schedule=schedule, seed=seed, budget=FILM_BUDGET)
    launch = emulation[grid, block]
    if int(np.prod(launch.grid)) * int(np.prod(launch.block)) > LANES_AT_ONCE // 16:
        raise rejection("unsupported", "A film can show only small launches.", None)
    camera = _Camera()
    emulation.observers.append(camera)
    profile = launch(*arguments)
    return Film(profile, camera.space, camera.moments, camera.final)


class _Camera(Observer):
    """Keeps every moment of a launch that is small enough to run in one go."""

    space: LaneSpace
    memory: Memory

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.final: Mapping[str, Any] = {}

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space, self.memory = space, memory

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        self.final = _kernel_frame(frame).variables
        self.moments.append(StartedStatement(line, _lanes(mask), dict(self.final)))

    def arrived(self, line: int, mask: Mask) -> None:
        self.moments.append(Arrival(line, _lanes(mask)))

    def passed(self, line: int, mask: Mask) -> None:
        self.moments.append(Passing(line, _lanes(mask)))

    def access(self, access: Access) -> None:
        self.moments.append(_touch(access, self.memory))

    def flops(self, line: int, mask: Mask, count: int, is_float64: bool, is_data: bool) -> None:
        lanes = _lanes(mask)
        self.moments.append(Arithmetic(line, lanes, count // max(1, len(lanes))))


def _kernel_frame(frame: Frame) -> Frame:
    """The kernel's own variables, also while a function that it calls is running."""
    while frame.parent is not None:
        frame = frame.parent
    return frame


def _lanes(mask: Mask) -> np.ndarray:
    return np.flatnonzero(mask.full_array)


def _touch(access: Access, memory: Memory) -> MemoryOperation:
    """An access with its values; it is told after a store, so the storage holds what was written.

    Of several lanes that write one cell at once, all show the value that won.
    """
    space, allocation = access.mask.space, access.allocation
    cells, lanes = access.first_cells
    places = np.broadcast_to(memory.place(allocation, access.cell), space.shape).reshape(-1)
    indices = np.stack(np.unravel_index(cells, allocation.shape or (1,)), axis=1)
    return MemoryOperation(
        access.kind,
        allocation.space,
        access.array,
        access.line,
        lanes,
        indices,
        allocation.storage[places[lanes]].copy(),
    )
