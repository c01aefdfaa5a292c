"""Keeps what a launch did in its order: accesses and statements one by one, and what it printed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.machine.frames import Frame
from course_lib.emulator.profile.profile import TracedAccess, TracedStatement
from course_lib.emulator.state.lanes import Mask
from course_lib.emulator.state.memory import Access


class Tracer(Observer):
    """Keeps what happened, in its order.

    Args:
        space: "global" for accesses to global memory alone; None for all.
    """

    def __init__(self, space: str | None = None) -> None:
        self.space = space
        self.accesses: list[TracedAccess] = []
        self.statements: list[TracedStatement] = []

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        order = len(self.statements)
        self.statements.append(TracedStatement(line, order, len(self.accesses), mask))

    def access(self, access: Access) -> None:
        if self.space in (None, access.allocation.space):
            self.accesses.append(_traced(access, len(self.accesses)))


class Output(Observer):
    """Keeps what the kernel prints, up to so many lines; `unkept` counts those beyond."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lines: list[str] = []
        self.unkept = 0

    def printed(self, texts: Sequence[str], more: int) -> None:
        room = self.most - len(self.lines)
        self.lines += texts[:room]
        self.unkept += max(len(texts) - room, 0) + more


def _traced(access: Access, step: int) -> TracedAccess:
    """An access with every active lane written out."""
    space, allocation = access.mask.space, access.allocation
    lanes = np.flatnonzero(access.mask.full_array)
    cells = np.broadcast_to(access.cell, space.shape).reshape(-1)[lanes]
    shape = allocation.shape or (1,)
    indices = np.stack(np.unravel_index(cells, shape), axis=1)
    threads = np.stack(np.unravel_index(lanes, space.shape), axis=1)
    threads[:, :3] += np.array(space.first_block)
    addresses = allocation.address + cells * allocation.spacing
    return TracedAccess(
        access.kind,
        allocation.space,
        access.array,
        access.line,
        step,
        access.interval,
        indices,
        threads,
        addresses,
        access.elements,
    )
