"""Names threads and blocks as a student would: by as many indices as the launch has axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Memory
from course_lib.findings import Finding
from course_lib.sentences import say

Place = tuple[int, int, int]


def thread_name(thread: Place, block_size: Place) -> str:
    """A thread of a block."""
    return say("thread {indices}", indices=_indices(thread, block_size))


def block_name(block: Place, grid: Place) -> str:
    """A block of a grid."""
    return say("block {indices}", indices=_indices(block, grid), block_at=block)


def _indices(place: Place, sizes: Place) -> str:
    axes = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
    return str(place[0]) if axes == 1 else "(" + ", ".join(map(str, place[:axes])) + ")"


@dataclass(frozen=True)
class ThreadNames:
    """The names in one launch, whose grid and block are given as (x, y, z)."""

    grid: Place
    block: Place

    def full(self, block: Place, thread: Place) -> str:
        """A thread, with its block where there are several."""
        name = thread_name(thread, self.block)
        if max(self.grid) == 1:
            return name
        return say("{thread} of {block}", thread=name, block=block_name(block, self.grid))


class FaultObserver(Observer):
    """An observer that makes findings about threads.

    Args:
        names: what the threads of this launch are called.
        note: keeps a finding.
    """

    space: LaneSpace

    def __init__(self, names: ThreadNames, note: Callable[[Finding], None]) -> None:
        self.names = names
        self.note = note

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space

    def who(self, lane: int) -> tuple[str, Place]:
        """A lane's name and its thread index."""
        block, thread = self.space.describe(lane)
        return self.names.full(block, thread), thread
