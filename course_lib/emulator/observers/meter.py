"""Counts what a run costs, line by line: reads the machine's accesses, changes nothing."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.profile.cost import (
    SECTOR_BYTES,
    GlobalCost,
    SharedCost,
    global_cost,
    shared_cost,
)
from course_lib.emulator.profile.profile import ArrayTraffic, Counters, LineCounters
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation

if TYPE_CHECKING:
    from course_lib.emulator.machine.frames import Frame

MAX_REMEMBERED_PATTERNS = 4096
# Larger patterns cost more to recognise than to count.
MAX_PATTERN_BYTES = 1 << 20


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
        self._known: dict[tuple[Any, ...], GlobalCost | SharedCost] = {}

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
        cost = self._cost(access)
        elements = access.mask.lanes * access.elements
        size = elements * access.allocation.dtype.itemsize
        if access.kind == "atomic":
            return
        traffic, touched = self.arrays[access.array], self._touched[access.array]
        kind = access.kind
        _add(counters, f"global_{kind}_", cost, size)
        _add(traffic, f"{kind}_", cost, size)
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
        cost = self._cost(access)
        assert isinstance(cost, SharedCost)
        start = "shared_load_" if access.kind == "load" else "shared_store_"
        _increase(counters, start + "requests", cost.requests)
        _increase(counters, start + "wavefronts", cost.wavefronts)
        _increase(counters, start + "bank_conflicts", cost.bank_conflicts)
        size = access.mask.lanes * access.width
        _increase(counters, start + "bytes", size)

    def _cost(self, access: Access) -> GlobalCost | SharedCost:
        """The cost of an access; a pattern of addresses that was seen before is not recounted."""
        key = _pattern(access)
        cost = self._known.get(key) if key else None
        if cost is None:
            cost = cost_of(access)
            if key:
                if len(self._known) >= MAX_REMEMBERED_PATTERNS:
                    self._known.clear()
                self._known[key] = cost
        return cost

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


def cost_of(access: Access) -> GlobalCost | SharedCost:
    """The cost of one access, summed over all its warps."""
    allocation, mask = access.allocation, access.mask
    space: LaneSpace = mask.space
    width = access.width
    cell, taking_part = over_same_blocks(access.cell, mask)
    # int64: the address of the first byte of each lane's element.
    addresses = np.asarray(cell, np.int64) * allocation.spacing + allocation.address
    rows = space.warps_of(addresses).reshape(-1, 32)
    active = space.warps_of(taking_part, False).reshape(-1, 32)
    repeats = space.repeats(addresses)
    if allocation.space == "global":
        cost = global_cost(rows, active, width)
        return GlobalCost(cost.requests * repeats, cost.sectors * repeats)
    shared = shared_cost(rows, active, width)
    return SharedCost(
        shared.requests * repeats, shared.wavefronts * repeats, shared.bank_conflicts * repeats
    )


def over_same_blocks(cell: Value, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """The cells and the mask, both spelled out along the block axes on which either varies."""
    cells = np.asarray(cell).reshape((1,) * 6) if np.ndim(cell) == 0 else np.asarray(cell)
    active = np.ones((1,) * 6, bool) if mask.array is None else mask.array
    blocks = np.broadcast_shapes(cells.shape[:3], active.shape[:3])
    return (
        spread(cells, (*blocks, *cells.shape[3:])),
        spread(active, (*blocks, *active.shape[3:])),
    )


def _pattern(access: Access) -> tuple[Any, ...] | None:
    """A key that is equal for accesses of equal cost; None if it is not worth the effort.

    Whole sectors (or, in shared memory, nothing) are subtracted: moving all addresses of an
    access by a multiple of 32 bytes changes no count.
    """
    cell = np.asarray(access.cell)
    if cell.nbytes > MAX_PATTERN_BYTES:
        return None
    allocation = access.allocation
    if allocation.space == "global" and cell.size:
        per_sector = SECTOR_BYTES // math.gcd(SECTOR_BYTES, allocation.spacing)
        cell = cell - cell.flat[0] // per_sector * per_sector
    space = access.mask.space
    return (
        allocation.space,
        (allocation.dtype.itemsize, allocation.spacing),
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


def _add(target: Counters | ArrayTraffic, start: str, cost: object, size: int) -> None:
    assert isinstance(cost, GlobalCost)
    _increase(target, start + "requests", cost.requests)
    _increase(target, start + "sectors", cost.sectors)
    _increase(target, start + "bytes", size)


def _increase(target: object, name: str, amount: int) -> None:
    setattr(target, name, getattr(target, name) + amount)


def mark(touched: np.ndarray, access: Access) -> None:
    """Set what an access touches, in a mask of the array's elements; of a record, all of it."""
    if access.mask.array is None:
        cells = np.asarray(access.cell)
    else:
        shape = np.broadcast_shapes(np.shape(access.cell), access.mask.array.shape)
        active = spread(access.mask.array, shape)
        cells = spread(access.cell, shape)[active]
    allocation = access.allocation
    if allocation.within is not None:
        cells = cells * allocation.spacing // allocation.root.spacing
    for i in range(access.elements):
        touched[cells + i] = True
