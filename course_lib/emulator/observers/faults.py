"""Notes what should not happen in a launch: accesses that fault, and threads that go astray."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.report import Reporter
from course_lib.emulator.profile.profile import StaleRead
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, Value
from course_lib.emulator.state.memory import Allocation, Memory
from course_lib.findings import Finding


class Faults(Observer):
    """Makes a finding of every fault.

    Args:
        reporter: says it in words.
        note: keeps the finding.

    Attributes:
        stale_reads: reads of what was left from an earlier round, which may be meant.
    """

    space: LaneSpace

    def __init__(self, reporter: Reporter, note: Callable[[Finding], None]) -> None:
        self.reporter = reporter
        self.note = note
        self.stale_reads: dict[tuple[int, str], StaleRead] = {}

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        self.note(self.reporter.fault(fault, allocation, kind, line, self.space))

    def stale(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        if key not in self.stale_reads:
            lane, number = _first_lane(bad, cell)
            block, thread = self.space.describe(lane)
            name = allocation.element_name(number)
            self.stale_reads[key] = StaleRead(line, allocation.name, name, thread, block)

    def undefined(self, name: str, bad: Mask, line: int) -> None:
        lane = int(np.argmax(bad.full_array))
        self.note(self.reporter.undefined(name, lane, line, self.space))

    def raised(self, what: str, mask: Mask, line: int) -> None:
        lane = int(np.argmax(mask.full_array))
        self.note(self.reporter.raised(what, lane, line, self.space))

    def no_such_item(self, name: str, index: Value, items: int, bad: Mask, line: int) -> None:
        lane, number = _first_lane(bad, index)
        self.note(self.reporter.no_such_item(name, number, items, lane, line, self.space))

    def not_below(self, tuples: str, passed: Mask, line: int) -> None:
        lane = int(np.argmax(passed.full_array))
        self.note(self.reporter.not_below(tuples, lane, line, self.space))

    def broken_warp(self, name: str, mask: Mask, line: int) -> None:
        active = self.space.warps_of(mask.full_array, False).reshape(-1, WARP_SIZE)
        partly = active.any(axis=1) & ~active.all(axis=1)
        block, warp = divmod(int(np.argmax(partly)), self.space.warps_per_block)
        lanes = active[block * self.space.warps_per_block + warp]
        first = warp * WARP_SIZE
        here, absent = first + int(np.argmax(lanes)), first + int(np.argmin(lanes))
        start = block * self.space.block_size
        missing = start + absent if absent < self.space.block_size else -1
        self.note(self.reporter.broken_warp(name, start + here, missing, line, self.space))

    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None:
        row = int(np.argmax(absent.any(axis=2).reshape(-1)))
        here, missing = (self._lane_of(rows, row) for rows in (active, absent))
        self.note(self.reporter.left_out(name, here, missing, line, self.space))

    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None:
        lane = self._lane_of(lanes, int(np.argmax(lanes.any(axis=2).reshape(-1))))
        self.note(self.reporter.unnamed(name, lane, line, self.space))

    def _lane_of(self, rows: np.ndarray, row: int) -> int:
        """The first lane of one row of warps."""
        block, warp = divmod(row, self.space.warps_per_block)
        first = block * self.space.block_size + warp * WARP_SIZE
        return first + int(np.argmax(rows.reshape(-1, WARP_SIZE)[row]))

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """A barrier that some threads of a block do not reach."""
        lanes = arrived.lanes_by_block
        partly = (lanes > 0) & (lanes < self.space.block_size)
        if partly.any():
            self._divergence(line, int(np.argmax(partly)), arrived, live)

    def _divergence(self, line: int, block: int, arrived: Mask, live: Mask) -> None:
        size = self.space.block_size
        present = arrived.full_array.reshape(-1, size)[block]
        absent = int(np.argmin(present))
        returned = not live.full_array.reshape(-1, size)[block][absent]
        first = block * size
        found = self.reporter.divergence(
            line, first + absent, first + int(np.argmax(present)), returned, self.space
        )
        self.note(found)


class CopyFaults(Observer):
    """Makes a finding of every access to cells into which an asynchronous copy is under way."""

    space: LaneSpace

    def __init__(self, reporter: Reporter, note: Callable[[Finding], None]) -> None:
        self.reporter = reporter
        self.note = note

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space

    def too_early(
        self, kind: str, allocation: Allocation, cell: Value, bad: Mask, line: int, started: Value
    ) -> None:
        lane, number = _first_lane(bad, cell)
        _, copy_line = _first_lane(bad, started)
        found = self.reporter.too_early(kind, allocation, number, lane, line, copy_line, self.space)
        self.note(found)


def _first_lane(bad: Mask, cell: Value) -> tuple[int, int]:
    """The first lane in `bad`, and its cell."""
    lane = int(np.argmax(bad.full_array))
    return lane, int(np.broadcast_to(cell, bad.space.shape).reshape(-1)[lane])
