"""The instruments of a run: pass on what the machine tells to the meter and the race detector."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.lanes import WARP_SIZE, LaneSpace, Mask, Value
from course_lib.emulator.limits import Kind, Path
from course_lib.emulator.machine import Machine
from course_lib.emulator.memory import Access, Allocation, ArrayView, Fault, Memory, poison
from course_lib.emulator.profile import SharedArrayUse, StaleRead, TracedAccess, TracedStatement
from course_lib.emulator.races import RaceDetector

if TYPE_CHECKING:
    from course_lib.emulator.run import Run


@dataclass(eq=False)
class _Unwritten:
    """The lanes that read, on one line, cells of an array that nobody had written.

    Both are flat: `lanes` says which, `cells` of each of them the first such cell.
    """

    allocation: Allocation
    lanes: np.ndarray
    cells: np.ndarray


class Part:
    """The instruments of one space: passes on what the machine tells."""

    def __init__(self, run: Run, space: LaneSpace) -> None:
        self.run = run
        self.space = space
        self.meter = run.meter
        self.reporter = run.reporter
        self.races = RaceDetector(space, run.written) if run.options.races else None
        self.limits = run.limits
        self._everyone = Mask(space)
        self._unwritten: dict[tuple[int, str], _Unwritten] = {}
        self._spoiled = np.zeros(0, bool)

    def statement(self, line: int, mask: Mask) -> None:
        if self.meter:
            self.meter.statement(line, mask)
        if self.run.options.trace:
            order = len(self.run.activity)
            self.run.activity.append(TracedStatement(line, order, len(self.run.trace), mask))

    def flops(self, line: int, count: int, is_float64: bool, is_data: bool) -> None:
        if self.meter:
            self.meter.flops(line, count, is_float64, is_data)

    def branch(self, line: int, condition: Value, mask: Mask) -> None:
        if self.meter:
            self.meter.branch(line, condition, mask)

    def access(self, access: Access) -> None:
        if self.meter:
            self.meter.access(access)
        if self._unwritten:
            self._note_spoiled(access)
        if self.races:
            self.races.record(access)
            several = max(self.run.launch.grid) > 1
            if several and id(access.allocation) in self.run.written:
                self.run.block_races.record(access, self.space)
        if self.limits:
            self.limits.access(access)
        if self.run.stream:
            self.run.stream.record(access, self.space)
        if self.run.listener:
            self.run.listener(access)
        wanted = self.run.options.trace
        if wanted and (wanted != "global" or access.allocation.space == "global"):
            self.run.trace.append(_traced(access, len(self.run.trace)))

    def syncwarp(self, mask: Mask) -> None:
        if self.races:
            self.races.syncwarp(mask)

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        self.run.note(self.reporter.fault(fault, allocation, kind, line, self.space))

    def uninitialised(
        self, allocation: Allocation, cell: Value, bad: Mask, line: int
    ) -> np.generic | None:
        """Note it; what is to be read instead, in a launch that tries that out."""
        key = (line, allocation.name)
        cells = np.broadcast_to(cell, self.space.shape).reshape(-1)
        lanes = bad.full_array.reshape(-1)
        known = self._unwritten.get(key)
        if known is None:
            self._unwritten[key] = _Unwritten(allocation, lanes.copy(), cells.copy())
        else:
            new = lanes & ~known.lanes
            known.cells[new] = cells[new]
            known.lanes |= new
        instead = self.run.instead
        return instead.value(allocation.name, line, allocation.dtype) if instead else None

    def _note_spoiled(self, access: Access) -> None:
        """Remember which lanes store not-a-number to global memory."""
        allocation = access.allocation
        if access.kind != "store" or allocation.space != "global" or allocation.dtype.kind != "f":
            return
        lanes = np.flatnonzero(access.mask.full_array)
        cells = np.broadcast_to(access.cell, self.space.shape).reshape(-1)[lanes]
        if not self._spoiled.size:
            self._spoiled = np.zeros(self.space.size, bool)
        self._spoiled[lanes[np.isnan(allocation.storage[cells])]] = True

    def _note_unwritten(self) -> None:
        """Report the reads of cells that nobody wrote, by a lane whose result they spoil."""
        for (line, _), read in self._unwritten.items():
            telling = read.lanes & self._spoiled if self._spoiled.size else read.lanes
            lane = int(np.argmax(telling if telling.any() else read.lanes))
            cell = int(read.cells[lane])
            found = self.reporter.uninitialised(read.allocation, cell, lane, line, self.space)
            self.run.note(found)

    def stale(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        if key not in self.run.stale:
            lane, number = self._first(bad, cell)
            block, thread = self.space.describe(lane)
            name = allocation.element_name(number)
            self.run.stale[key] = StaleRead(line, allocation.name, name, thread, block)

    def broken_warp(self, name: str, mask: Mask, line: int) -> None:
        """Some lanes of a warp carry out what whole warps do together."""
        active = self.space.warps_of(mask.full_array, False).reshape(-1, WARP_SIZE)
        partly = active.any(axis=1) & ~active.all(axis=1)
        block, warp = divmod(int(np.argmax(partly)), self.space.warps_per_block)
        lanes = active[block * self.space.warps_per_block + warp]
        first = warp * WARP_SIZE
        here, absent = first + int(np.argmax(lanes)), first + int(np.argmin(lanes))
        start = block * self.space.block_size
        missing = start + absent if absent < self.space.block_size else -1
        self.run.note(self.reporter.broken_warp(name, start + here, missing, line, self.space))

    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None:
        """Lanes call what lanes of their warp should call as well; both as rows of warps."""
        row = int(np.argmax(absent.any(axis=2).reshape(-1)))
        here, missing = (self._lane_of(rows, row) for rows in (active, absent))
        self.run.note(self.reporter.left_out(name, here, missing, line, self.space))

    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None:
        """Lanes, as rows of warps, that their own mask does not name."""
        lane = self._lane_of(lanes, int(np.argmax(lanes.any(axis=2).reshape(-1))))
        self.run.note(self.reporter.unnamed(name, lane, line, self.space))

    def _lane_of(self, rows: np.ndarray, row: int) -> int:
        """The first lane of one row of warps."""
        block, warp = divmod(row, self.space.warps_per_block)
        first = block * self.space.block_size + warp * WARP_SIZE
        return first + int(np.argmax(rows.reshape(-1, WARP_SIZE)[row]))

    def too_early(
        self, kind: str, allocation: Allocation, cell: Value, bad: Mask, line: int, started: Value
    ) -> None:
        """Lanes touch cells into which copies, started at the lines `started`, are on their way."""
        lane, number = self._first(bad, cell)
        _, copy_line = self._first(bad, started)
        if self.races:
            self.run.note(
                self.reporter.too_early(kind, allocation, number, lane, line, copy_line, self.space)
            )

    def landed(self, access: Access) -> None:
        """The store of an asynchronous copy takes place now at the latest."""
        if self.races:
            self.races.record(access)

    def undefined(self, name: str, bad: Mask, line: int, kind: np.dtype) -> np.generic:
        """Note it; the value that the variable has instead."""
        lane = int(np.argmax(bad.full_array))
        self.run.note(self.reporter.undefined(name, lane, line, self.space))
        instead = self.run.instead.value(name, line, kind) if self.run.instead else None
        return poison(kind) if instead is None else instead

    def raised(self, what: str, mask: Mask, line: int) -> None:
        lane = int(np.argmax(mask.full_array))
        self.run.note(self.reporter.raised(what, lane, line, self.space))

    def no_such_item(self, name: str, index: Value, items: int, bad: Mask, line: int) -> None:
        lane, number = self._first(bad, index)
        self.run.note(self.reporter.no_such_item(name, number, items, lane, line, self.space))

    def not_below(self, tuples: str, passed: Mask, line: int) -> None:
        lane = int(np.argmax(passed.full_array))
        self.run.note(self.reporter.not_below(tuples, lane, line, self.space))

    def printed(self, texts: Sequence[str], more: int) -> None:
        kept = self.run.output
        room = self.run.options.budget.printed_lines - len(kept)
        kept += texts[:room]
        self.run.unkept_lines += max(len(texts) - room, 0) + more

    def limit(
        self,
        kind: Kind,
        node: ast.expr,
        path: Path,
        left: Value,
        right: Value,
        mask: Mask,
        operator: type[ast.cmpop],
    ) -> None:
        if self.limits:
            self.limits.meet(kind, node, path, left, right, mask, operator)

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        if self.limits:
            self.limits.index(view, indices, mask, line)

    def enter_loop(self, node: ast.For | ast.While, path: Path) -> None:
        if self.limits:
            self.limits.enter_loop(node, path)

    def end_turn(self) -> None:
        if self.limits:
            self.limits.end_turn()

    def leave_loop(self, turns: int) -> None:
        if self.limits:
            self.limits.leave_loop(turns)

    def _first(self, bad: Mask, cell: Value) -> tuple[int, int]:
        lane = int(np.argmax(bad.full_array))
        return lane, int(np.broadcast_to(cell, self.space.shape).reshape(-1)[lane])

    def lockstep_barrier(self, machine: Machine, line: int) -> int:
        """All active lanes arrive together; the others have returned or took another way."""
        self.pass_barrier(line, machine.active, machine.frame.live)
        return machine.unit.interval + 1

    def pass_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """The lanes in `arrived` pass a barrier at `line`."""
        blocks = np.count_nonzero(arrived.full_array.reshape(self.space.block_count, -1), axis=1)
        partly = (blocks > 0) & (blocks < self.space.block_size)
        if partly.any():
            self._divergence(line, int(np.argmax(partly)), arrived, live)
        if self.meter:
            self.meter.barrier(line, int(np.count_nonzero(blocks)))
        if self.races:
            passing = None
            if not blocks.all():
                passed = (blocks > 0).reshape(*self.space.blocks, 1, 1, 1)
                passing = Mask.of(self.space, passed)
            self.races.barrier(passing)

    def _divergence(self, line: int, block: int, arrived: Mask, live: Mask) -> None:
        size = self.space.block_size
        present = arrived.full_array.reshape(-1, size)[block]
        absent = int(np.argmin(present))
        returned = not live.full_array.reshape(-1, size)[block][absent]
        first = block * size
        found = self.reporter.divergence(
            line, first + absent, first + int(np.argmax(present)), returned, self.space
        )
        self.run.note(found)

    def finish(self, memory: Memory) -> None:
        """The kernel has ended for these blocks: judge what is left, note the shared arrays."""
        if self.races:
            self.races.barrier(None)
            # Races between warps first: they are the clearer example of a missing barrier.
            for race in sorted(self.races.races, key=lambda race: race.same_warp):
                self.run.note(self.reporter.race(race))
        self._note_unwritten()
        for view in memory.shared.values():
            allocation = view.allocation
            size = allocation.cells * allocation.dtype.itemsize
            self.run.shared.setdefault(
                f"{allocation.name}:{allocation.line}",
                SharedArrayUse(
                    allocation.name, allocation.line, allocation.shape, allocation.dtype, size
                ),
            )


def _traced(access: Access, step: int) -> TracedAccess:
    """An access with every active lane written out."""
    space, allocation = access.mask.space, access.allocation
    lanes = np.flatnonzero(access.mask.full_array)
    cells = np.broadcast_to(access.cell, space.shape).reshape(-1)[lanes]
    shape = allocation.shape or (1,)
    indices = np.stack(np.unravel_index(cells, shape), axis=1)
    threads = np.stack(np.unravel_index(lanes, space.shape), axis=1)
    threads[:, :3] += np.array(space.first_block)
    addresses = allocation.address + cells * allocation.dtype.itemsize
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
