"""Counts what a run costs, line by line: reads the machine's accesses, changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.cost_queue import Cost, CostQueue, Told
from course_lib.emulator.profile.cost import SECTOR_BYTES, GlobalCost, SharedCost
from course_lib.emulator.profile.profile import ArrayTraffic, Counters, LineCounters
from course_lib.emulator.state.lanes import WARP_SIZE, Mask, Value, joint_shape, spread
from course_lib.emulator.state.memory import Access, Allocation

if TYPE_CHECKING:
    from course_lib.emulator.machine.frames import Frame

# Larger patterns, and those of few lanes, cost more to recognise than to count.
MAX_PATTERN_BYTES = 1 << 20
MIN_PATTERN_LANES = 8 * WARP_SIZE


@dataclass
class _Touched:
    """Which elements of an array were loaded and stored at least once."""

    loaded: np.ndarray
    stored: np.ndarray


class Meter(Observer):
    """Keeps the counters of one launch."""

    def __init__(self) -> None:
        self.lines: dict[int, LineCounters] = {}
        self.float64_lines: set[int] = set()
        self.arrays: dict[str, ArrayTraffic] = {}
        self._touched: dict[str, _Touched] = {}
        self._costs = CostQueue()

    def register(self, name: str, allocation: Allocation, shape: tuple[int, ...]) -> None:
        """Keep the traffic of an array that was passed in under `name`."""
        self.arrays[name] = ArrayTraffic(shape, allocation.dtype)
        size = allocation.storage.size
        self._touched[name] = _Touched(np.zeros(size, bool), np.zeros(size, bool))

    def line(self, number: int) -> LineCounters:
        """The counters of a line."""
        counters = self.lines.get(number)
        if counters is None:
            counters = self.lines[number] = LineCounters()
        return counters

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        counters = self.line(line)
        counters.executed += mask.warps
        counters.active_lanes += mask.lanes

    def flops(self, line: int, mask: Mask, count: int, is_float64: bool, is_data: bool) -> None:
        counters = self.line(line)
        counters.flops += count
        if is_float64:
            counters.float64_flops += count
            if is_data:
                self.float64_lines.add(line)

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self.line(line).barriers += int(np.count_nonzero(arrived.lanes_by_block))

    def branch(self, line: int, condition: Value, mask: Mask) -> None:
        counters = self.line(line)
        counters.branches += mask.warps
        if np.ndim(condition) == 0:
            return
        space = mask.space
        taken = condition if mask.array is None else condition & mask.array
        refused = ~condition if mask.array is None else ~condition & mask.array
        some = space.warps_of(taken, False).any(axis=2) & space.warps_of(refused, False).any(axis=2)
        counters.divergent_branches += int(np.count_nonzero(some)) * space.repeats(taken)

    def access(self, access: Access) -> None:
        counters = self.line(access.line)
        space = access.allocation.space
        if access.kind == "atomic":
            counters.atomics += access.mask.warps
        if space == "global":
            self._global(access, counters)
        elif space == "shared":
            self._shared(access, counters)
        elif space == "local" and access.kind == "load":
            counters.local_load_requests += access.mask.warps
        elif space == "local":
            counters.local_store_requests += access.mask.warps

    def _global(self, access: Access, counters: LineCounters) -> None:
        if access.kind == "atomic":
            return
        elements = access.mask.lanes * access.elements
        size = elements * access.allocation.dtype.itemsize
        traffic, touched = self.arrays[access.array], self._touched[access.array]
        kind = access.kind
        _increase(counters, f"global_{kind}_bytes", size)
        _increase(traffic, f"{kind}_bytes", size)
        self._ask(access, partial(_add_global, counters, traffic, kind))
        if kind == "load":
            traffic.loaded_elements += elements
            traffic.loaded_at[access.line] += elements
            mark(touched.loaded, access)
        else:
            traffic.stored_elements += elements
            traffic.stored_at[access.line] += elements
            mark(touched.stored, access)

    def _shared(self, access: Access, counters: LineCounters) -> None:
        if access.kind == "atomic":
            return
        start = "shared_load_" if access.kind == "load" else "shared_store_"
        _increase(counters, start + "bytes", access.mask.lanes * access.width)
        self._ask(access, partial(_add_shared, counters, start))

    def _ask(self, access: Access, tell: Told) -> None:
        """Have the cost of an access told, now or later."""
        self._costs.add(_pattern(access), access, tell)

    def end(self) -> None:
        self._costs.finish()

    def finish(self) -> Counters:
        """The totals, with the distinct elements worked out."""
        for name, touched in self._touched.items():
            traffic = self.arrays[name]
            traffic.distinct_elements_loaded = int(np.count_nonzero(touched.loaded))
            traffic.distinct_elements_stored = int(np.count_nonzero(touched.stored))
        total = Counters()
        for counters in self.lines.values():
            total.add(counters)
        return total


def _pattern(access: Access) -> Hashable:
    """A key that is equal for accesses of equal cost; of its own, if it is not worth the effort.

    Whole sectors (or, in shared memory, nothing) are subtracted: moving all addresses of an
    access by a multiple of 32 bytes changes no count.
    """
    cell = np.asarray(access.cell)
    if cell.nbytes > MAX_PATTERN_BYTES or access.mask.space.size <= MIN_PATTERN_LANES:
        return object()
    allocation = access.allocation
    if allocation.space == "global" and cell.size:
        per_sector = SECTOR_BYTES // allocation.dtype.itemsize
        cell = cell - cell.flat[0] // per_sector * per_sector
    space = access.mask.space
    return (
        allocation.space,
        allocation.dtype.itemsize,
        access.elements,
        allocation.address % SECTOR_BYTES,
        (space.blocks, space.threads),
        cell.shape,
        _short(cell.tobytes()),
        _short(access.mask.fingerprint),
    )


def _short(text: bytes) -> bytes:
    """Of a long text its digest, so that remembering many takes no memory."""
    return text if len(text) <= 256 else hashlib.blake2b(text, digest_size=16).digest()


def _add_global(counters: LineCounters, traffic: ArrayTraffic, kind: str, cost: Cost) -> None:
    assert isinstance(cost, GlobalCost)
    for target, start in ((counters, f"global_{kind}_"), (traffic, f"{kind}_")):
        _increase(target, start + "requests", cost.requests)
        _increase(target, start + "sectors", cost.sectors)


def _add_shared(counters: LineCounters, start: str, cost: Cost) -> None:
    assert isinstance(cost, SharedCost)
    _increase(counters, start + "requests", cost.requests)
    _increase(counters, start + "wavefronts", cost.wavefronts)
    _increase(counters, start + "bank_conflicts", cost.bank_conflicts)


def _increase(target: object, name: str, amount: int) -> None:
    setattr(target, name, getattr(target, name) + amount)


def mark(touched: np.ndarray, access: Access) -> None:
    """Set what an access touches, in a mask of the array's elements."""
    if access.mask.array is None:
        cells = np.asarray(access.cell)
    else:
        shape = joint_shape(access.cell, access.mask.array)
        active = spread(access.mask.array, shape)
        cells = spread(access.cell, shape)[active]
    for i in range(access.elements):
        touched[cells + i] = True
