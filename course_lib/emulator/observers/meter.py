"""Counts what a run costs, line by line: reads the machine's accesses, changes nothing."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.cost_queue import Cost, CostQueue
from course_lib.emulator.profile.cost import SECTOR_BYTES, GlobalCost
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


@dataclass(eq=False, slots=True)
class _Site:
    """What the accesses of one line to one array came to: its loads, or its stores."""

    elements: int = 0
    bytes: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0

    def add(self, cost: Cost) -> None:
        """Add what one access cost."""
        self.requests += cost.requests
        if isinstance(cost, GlobalCost):
            self.sectors += cost.sectors
        else:
            self.wavefronts += cost.wavefronts
            self.bank_conflicts += cost.bank_conflicts


class Meter(Observer):
    """Keeps the counters of one launch."""

    def __init__(self) -> None:
        self.lines: dict[int, LineCounters] = {}
        self.float64_lines: set[int] = set()
        self.arrays: dict[str, ArrayTraffic] = {}
        self._touched: dict[str, _Touched] = {}
        self._sites: dict[tuple[int, str, str], _Site] = {}
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
        if space == "local" and access.kind == "load":
            counters.local_load_requests += access.mask.warps
        elif space == "local":
            counters.local_store_requests += access.mask.warps
        elif space == "global" and access.kind != "atomic":
            self._global(access)
        elif space == "shared" and access.kind != "atomic":
            self._count(access)

    def _global(self, access: Access) -> None:
        self._count(access, access.array)
        touched = self._touched[access.array]
        mark(touched.loaded if access.kind == "load" else touched.stored, access)

    def _count(self, access: Access, array: str = "") -> None:
        """Count an access that is no atomic operation; `array`: whose traffic it is, too."""
        key = (access.line, access.kind, array)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = _Site()
        site.elements += access.mask.lanes * access.elements
        site.bytes += access.mask.lanes * access.width
        self._costs.add(_pattern(access), access, site.add)

    def end(self) -> None:
        self._costs.finish()

    def finish(self) -> Counters:
        """The totals, with the distinct elements worked out."""
        for (line, kind, array), site in self._sites.items():
            side = "load" if kind == "load" else "store"
            counters = self.line(line)
            if not array:
                _increase(counters, f"shared_{side}_", site, "requests", "wavefronts", "bytes")
                _increase(counters, f"shared_{side}_", site, "bank_conflicts")
                continue
            traffic = self.arrays[array]
            for target, start in ((counters, f"global_{side}_"), (traffic, f"{side}_")):
                _increase(target, start, site, "requests", "sectors", "bytes")
            _increase(traffic, "loaded_" if side == "load" else "stored_", site, "elements")
            at_line = traffic.loaded_at if side == "load" else traffic.stored_at
            at_line[line] += site.elements
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


def _increase(target: object, start: str, site: _Site, *names: str) -> None:
    for name in names:
        setattr(target, start + name, getattr(target, start + name) + getattr(site, name))


def mark(touched: np.ndarray, access: Access) -> None:
    """Set what an access touches, in a mask of the array's elements; of a record, all of it."""
    if access.mask.array is None:
        cells = np.asarray(access.cell)
    else:
        shape = joint_shape(access.cell, access.mask.array)
        active = spread(access.mask.array, shape)
        cells = spread(access.cell, shape)[active]
    allocation = access.allocation
    if allocation.within is not None:
        cells = cells * allocation.spacing // allocation.root.spacing
    for i in range(access.elements):
        touched[cells + i] = True
