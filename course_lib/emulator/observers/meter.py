"""The meter: counts what a run costs, line by line, from the machine's accesses; changes nothing.

`Meter` at the end keeps the counters. `CostQueue` works out what memory accesses cost, many at
once; `StreamRecorder` keeps the cache lines for `emulate(..., stream=True)`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.machine.events import EngineAccess, Observer
from course_lib.emulator.observers.race_search import shapes_of, stacked
from course_lib.emulator.profile.counters import (
    KINDS,
    SECTORS_PER_LINE,
    Counters,
    LineCounters,
    LineStream,
)
from course_lib.emulator.profile.profile import ArrayTraffic
from course_lib.emulator.profile.request_costs import (
    SECTOR_BYTES,
    GlobalCost,
    SharedCost,
    global_counts,
    shared_counts,
)
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, Value, joint_shape, spread
from course_lib.emulator.state.memory import GLOBAL_BASE, Access, Allocation, Memory

if TYPE_CHECKING:
    from course_lib.emulator.machine.events import Frame

Cost = GlobalCost | SharedCost
Told = Callable[[Cost], None]

MAX_REMEMBERED = 4096  # patterns of addresses
# Enough lanes that NumPy's own cost per call does not count, few enough to stay in the cache.
MAX_QUEUED_LANES = 1 << 17


class _Group(NamedTuple):
    """Accesses to one kind of memory that look alike, and the key of each."""

    accesses: list[Access]
    keys: list[Hashable]


class CostQueue:
    """Works out what accesses cost, once there are enough of them or `finish` is called.

    Accesses that cost the same have equal keys: such a pattern is looked at once.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Cost] = {}
        self._waiting: dict[Hashable, list[Told]] = {}
        self._groups: dict[Hashable, _Group] = {}
        self._lanes = 0

    def add(self, key: Hashable, access: Access, tell: Told) -> None:
        """`tell` the cost of an access to global or shared memory, now or later."""
        known = self._known.get(key)
        if known is not None:
            tell(known)
        elif key in self._waiting:
            self._waiting[key].append(tell)
        else:
            self._waiting[key] = [tell]
            self._put(key, access)
            if self._lanes >= MAX_QUEUED_LANES:
                self.finish()

    def _put(self, key: Hashable, access: Access) -> None:
        allocation = access.allocation
        sizes = allocation.dtype.itemsize, allocation.spacing
        alike = (allocation.space, sizes, access.elements, *shapes_of(access))
        group = self._groups.get(alike)
        if group is None:
            group = self._groups[alike] = _Group([], [])
        group.accesses.append(access)
        group.keys.append(key)
        self._lanes += most_lanes(access)

    def finish(self) -> None:
        """Tell the costs of all accesses that are waiting."""
        if len(self._known) + len(self._waiting) > MAX_REMEMBERED:
            self._known.clear()
        groups, self._groups, self._lanes = self._groups, {}, 0
        for group in groups.values():
            self._known.update(zip(group.keys, costs_of(group.accesses), strict=True))
        waiting, self._waiting = self._waiting, {}
        for key, told in waiting.items():
            for tell in told:
                tell(self._known[key])


def costs_of(accesses: Sequence[Access]) -> list[Cost]:
    """The cost of each of some accesses that look alike, summed over all its warps."""
    access, count = accesses[0], len(accesses)
    addresses, active, repeats = _rows_of_warps(accesses)

    cost, counts_of = (
        (GlobalCost, global_counts)
        if access.allocation.space == "global"
        else (SharedCost, shared_counts)
    )
    of_warps = counts_of(addresses, active, access.width)
    of_accesses = of_warps.reshape(count, -1, of_warps.shape[1]).sum(axis=1) * repeats
    return [cost(*counts) for counts in of_accesses.tolist()]


def _rows_of_warps(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray, int]:
    """The address of each lane's first byte and whether it takes part, as rows of 32 lanes, one
    access after the other; and how many blocks each row represents.
    """
    allocation, space, count = accesses[0].allocation, accesses[0].mask.space, len(accesses)
    cells, active = stacked(accesses)
    starts = np.array([access.allocation.address for access in accesses]).reshape(-1, *(1,) * 6)
    addresses = cells * allocation.spacing + starts
    blocks = tuple(map(max, addresses.shape[1:4], active.shape[1:4]))

    def rows(value: np.ndarray) -> np.ndarray:
        of_blocks = spread(value, (count, *blocks, *value.shape[4:]))
        one_behind_another = of_blocks.reshape(count * blocks[0], *of_blocks.shape[2:])
        return space.warps_of(one_behind_another).reshape(-1, 32)

    return rows(addresses), rows(active), space.block_count // math.prod(blocks)


def most_lanes(access: Access) -> int:
    """How many lanes need a look of their own at most: not those of blocks that are all alike."""
    cell, active = access.cell, access.mask.array
    varies = cell.size if active is None else max(cell.size, active.size)
    space = access.mask.space
    return int(min(space.size, varies * space.block_size))


def over_same_blocks(cell: Value, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """The cells and the mask, both spelled out along the block axes on which either varies."""
    cells = np.asarray(cell).reshape((1,) * 6) if np.ndim(cell) == 0 else np.asarray(cell)
    active = np.ones((1,) * 6, bool) if mask.array is None else mask.array
    blocks = joint_shape(cells, active)[:3]
    return (
        spread(cells, (*blocks, *cells.shape[3:])),
        spread(active, (*blocks, *active.shape[3:])),
    )


# --- The cache lines that each block asks of global memory ----------------------------------------


# 14 bytes each; a longer stream would say nothing that a smaller launch does not say.
MAX_ENTRIES = 20_000_000


class StreamRecorder(Observer):
    """Collects the stream of one launch, space by space."""

    def __init__(self) -> None:
        self._pieces: list[tuple[np.ndarray, ...]] = []
        self._entries = 0
        self._step = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._step = 0  # these blocks begin with their first instruction

    def access(self, access: Access) -> None:
        """Take note of an access, if it is one to global memory."""
        space = access.mask.space
        if access.allocation.space != "global" or access.mask.empty:
            return
        rows, lines, sectors = _lines_of(access, space)
        blocks, entry = _spread(rows, access, space)
        kind = KINDS.index(access.kind)
        self._pieces.append(
            (
                blocks.astype(np.int32),
                np.full(len(blocks), self._step, np.int32),
                lines[entry].astype(np.int32),
                sectors[entry].astype(np.uint8),
                np.full(len(blocks), kind, np.uint8),
            )
        )
        self._step += 1
        self._entries += len(blocks)
        if self._entries > MAX_ENTRIES:
            message = "This launch touches too many cache lines for a stream. Launch a smaller one."
            raise rejection("unsupported", message, None)

    def finish(self) -> LineStream:
        """The whole stream."""
        if not self._pieces:
            empty = np.zeros(0, np.int32)
            return LineStream(empty, empty, empty, empty, empty)
        return LineStream(*(np.concatenate(column) for column in zip(*self._pieces, strict=True)))


def _lines_of(access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lines that each row (a block that represents others like it) touches, sorted, each once:
    the row, the line and the four sector bits of every entry.
    """
    cells, active = over_same_blocks(access.cell, access.mask)
    shape = np.broadcast_shapes(cells.shape, active.shape)
    row_count = int(np.prod(shape[:3]))
    addresses = cells * access.allocation.spacing + (access.allocation.address - GLOBAL_BASE)
    # An element is aligned to its own size, so that it never lies in two sectors.
    numbers = np.where(active, addresses // SECTOR_BYTES, -1).astype(np.int32)
    numbers = np.sort(np.broadcast_to(numbers, shape).reshape(row_count, -1), axis=1)
    lines = numbers // SECTORS_PER_LINE
    fresh = np.ones(lines.shape, bool)
    fresh[:, 1:] = lines[:, 1:] != lines[:, :-1]
    starts = np.flatnonzero(fresh)
    bits = np.left_shift(1, numbers % SECTORS_PER_LINE).reshape(-1)
    found = np.bitwise_or.reduceat(bits, starts)
    first = lines.reshape(-1)[starts]
    asked = first >= 0  # what is inactive was numbered −1 and sorted to the front
    return (starts // lines.shape[1])[asked], first[asked], found[asked]


def _spread(rows: np.ndarray, access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray]:
    """Which entries belong to which block of the grid, where one row represents several blocks: for
    every pair the block's number and the entry's place.
    """
    cells, _ = over_same_blocks(access.cell, access.mask)
    varying = cells.shape[:3]
    row_numbers = np.arange(int(np.prod(varying))).reshape(*varying, 1, 1, 1)
    row_of_block = np.broadcast_to(row_numbers[..., 0, 0, 0], space.blocks).reshape(-1)
    counts = np.bincount(rows, minlength=int(np.prod(varying)))
    starts = np.cumsum(counts) - counts
    entries = counts[row_of_block]
    before = np.cumsum(entries) - entries
    entry = np.arange(entries.sum()) + np.repeat(starts[row_of_block] - before, entries)
    return np.repeat(space.block_in_grid.reshape(-1), entries), entry


# --- The counters of a launch ---------------------------------------------------------------------


# Larger patterns, and those of few lanes, cost more to recognise than to count.
MAX_PATTERN_BYTES = 1 << 20
MIN_PATTERN_LANES = 8 * WARP_SIZE


@dataclass
class TouchedElements:
    """Which elements of an array were loaded, stored, or updated by an atomic operation."""

    loaded: np.ndarray
    stored: np.ndarray
    updated: np.ndarray

    def of(self, kind: str) -> np.ndarray:
        """Those of the accesses of a kind."""
        return {"load": self.loaded, "atomic": self.updated}.get(kind, self.stored)


class AccessPlace(NamedTuple):
    """Where accesses of one kind are: "load", "store" or "copy"; "global" or "shared"."""

    line: int
    kind: str
    space: str
    array: str


@dataclass(eq=False, slots=True)
class AccessCounts:
    """What the accesses of one line to one array cost in all: its loads, or its stores."""

    elements: int = 0
    bytes: int = 0
    requests: int = 0
    sectors: int = 0
    least: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0

    def add(self, cost: Cost) -> None:
        """Add what one access cost."""
        self.requests += cost.requests
        if isinstance(cost, GlobalCost):
            self.sectors += cost.sectors
            self.least += cost.least
        else:
            self.wavefronts += cost.wavefronts
            self.bank_conflicts += cost.bank_conflicts


class Meter(Observer):
    """Keeps the counters of one launch."""

    def __init__(self) -> None:
        self.lines: dict[int, LineCounters] = {}
        self.float64_lines: set[int] = set()
        self.arrays: dict[str, ArrayTraffic] = {}
        self.touched: dict[str, TouchedElements] = {}
        self.sites: dict[AccessPlace, AccessCounts] = {}
        self._costs = CostQueue()

    def register(self, name: str, allocation: Allocation, shape: tuple[int, ...]) -> None:
        """Keep the traffic of an array that was passed in under `name`."""
        self.arrays[name] = ArrayTraffic(shape, allocation.dtype)
        size = allocation.storage.size
        self.touched[name] = TouchedElements(*(np.zeros(size, bool) for _ in range(3)))

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

    def by_tensor_cores(self, line: int, count: int) -> None:
        self.line(line).tensor_flops += count

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self.line(line).barriers += int(np.count_nonzero(arrived.lanes_by_block))

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self.barrier(line, arrived, live)

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
        elif space in ("global", "shared") and access.kind != "atomic":
            self._count(access)
        if space == "global":
            mark(self.touched[access.array].of(access.kind), access)

    def _count(self, access: Access) -> None:
        """Count an access that is no atomic operation."""
        place = AccessPlace(access.line, access.kind, access.allocation.space, access.array)
        site = self.sites.get(place)
        if site is None:
            site = self.sites[place] = AccessCounts()
        site.elements += access.mask.lanes * access.elements
        site.bytes += access.mask.lanes * access.width
        self._costs.add(_pattern(access), access, site.add)

    def by_agent(self, access: EngineAccess) -> None:
        """Count a box that is copied as one request; in shared memory it takes no thread's time."""
        if access.agent >= 0 or access.allocation.space != "global":
            return
        place = AccessPlace(access.line, access.kind, "global", access.allocation.name)
        site = self.sites.setdefault(place, AccessCounts())
        cells = access.starts // access.allocation.spacing
        site.elements += len(cells)
        site.bytes += len(cells) * access.width
        site.requests += 1
        sectors = len(np.unique(access.starts // SECTOR_BYTES))
        site.sectors, site.least = site.sectors + sectors, site.least + sectors
        self.touched[access.allocation.name].of(access.kind)[cells] = True

    def end(self) -> None:
        self._costs.finish()

    def finish(self) -> Counters:
        """The totals, with the distinct elements worked out."""
        for (line, kind, space, array), site in self.sites.items():
            side = "load" if kind == "load" else "store"
            counters = self.line(line)
            if space == "shared":
                _increase(counters, f"shared_{side}_", site, "requests", "wavefronts", "bytes")
                _increase(counters, f"shared_{side}_", site, "bank_conflicts")
                continue
            traffic = self.arrays[array]
            for target, start in ((counters, f"global_{side}_"), (traffic, f"{side}_")):
                _increase(target, start, site, "requests", "sectors", "bytes")
            _increase(traffic, "loaded_" if side == "load" else "stored_", site, "elements")
            at_line = traffic.loaded_at if side == "load" else traffic.stored_at
            at_line[line] += site.elements
        for name, touched in self.touched.items():
            traffic = self.arrays[name]
            traffic.distinct_elements_loaded = int(np.count_nonzero(touched.loaded))
            traffic.distinct_elements_stored = int(np.count_nonzero(touched.stored))
        total = Counters()
        for counters in self.lines.values():
            total.add(counters)
        return total


def _pattern(access: Access) -> Hashable:
    """A key that accesses of equal cost share; a key of its own where a comparison does not pay.

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


def _increase(target: object, start: str, site: AccessCounts, *names: str) -> None:
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
