"""The search for races: the cells that two threads touch, one of them writing.

`races.py` collects accesses and asks at each barrier. First, accesses that look alike are put into
one array, so that a question is asked of all at once; then there are tables of who touched a cell;
at the end the search itself, `conflicts`.

Where few lanes run, NumPy's price for a call is most of what watching them costs.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Access, Allocation

Shape = tuple[int, ...]


def shapes_of(access: Access) -> tuple[Shape, Shape | None]:
    """The axes along which its cells vary, and its mask; equal for accesses that can be stacked."""
    active = access.mask.array
    return access.cell.shape, None if active is None else active.shape


def stacked(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray]:
    """The cells of accesses of equal shapes (int64) and who takes part (bool).

    The first axis of both counts the accesses; the other six are those of lanes, of length 1 where
    nothing varies.
    """
    active = [access.mask.array for access in accesses]
    cells = _piled([access.cell for access in accesses]).astype(np.int64, copy=False)
    if active[0] is None:
        return cells, np.ones((1,) * 7, bool)
    return cells, _piled([mask for mask in active if mask is not None])


def _piled(values: Sequence[Value]) -> np.ndarray:
    array = np.asarray(values[0])[None] if len(values) == 1 else np.array(values)
    return array if array.ndim == 7 else array.reshape(len(values), *(1,) * 6)


# --- Tables of who touched each cell, thread or block ---------------------------------------------
# A table keeps the lowest and the highest number only: if they differ, two touched the cell.


KINDS = {"load": 0, "atomic": 1, "store": 2, "copy": 2}
MAX_LINES = 64  # of an array that are told apart
_NO_ONE = np.int32(np.iinfo(np.int32).max)


class TouchTables:
    """Who touched the cells of arrays, apart for each line and kind of access."""

    def __init__(self) -> None:
        self._arrays: dict[int, dict[tuple[str, int], Touched]] = {}

    def of(self, access: Access) -> Touched:
        """The table of an access's line; lines beyond MAX_LINES share one for each kind."""
        of_array = self._arrays.setdefault(id(access.allocation), {})
        key = (access.kind, access.line)
        if key not in of_array and len(of_array) >= MAX_LINES:
            key = (access.kind, -1)
        if key not in of_array:
            of_array[key] = Touched(access)
        return of_array[key]

    def conflicts(self) -> Iterator[tuple[Touched, Touched, int, int, int, bool]]:
        """The first conflict of each two lines, in the program's order.

        That is a cell, who touched it, and whether several read it and write it back on that line.
        """
        for of_array in self._arrays.values():
            ordered = sorted(of_array.values(), key=Touched.place_in_program)
            for number, first in enumerate(ordered):
                for second in ordered[number:]:
                    if first.kind == second.kind and first.kind in ("load", "atomic"):
                        continue
                    found = first.conflict(second)
                    if found is not None:
                        updates = first.line == second.line and _updates(of_array, first, found[0])
                        yield first, second, *found, updates


def _updates(of_array: Mapping[tuple[str, int], Touched], at: Touched, cell: int) -> bool:
    """Whether two threads or blocks read a cell and write it back on this line."""
    loads, stores = (of_array.get((kind, at.line)) for kind in ("load", "store"))
    if loads is None or stores is None:
        return False
    lowest, highest = loads.ends(cell)
    return lowest < highest and (lowest, highest) == stores.ends(cell)


class Touched:
    """Who touched each cell of an array in one way, from one line: the lowest and highest number.

    The numbers are those of threads, or of blocks. The tables begin at one cell and reach as far
    as it takes, since between two barriers of the grid often a small part is touched.
    """

    def __init__(self, access: Access) -> None:
        self.kind = access.kind
        self.line = access.line
        self.allocation = access.allocation
        self.order = access.order
        self.begin = 0
        self.lowest = self.highest = np.empty(0, np.int32)

    def add(self, access: Access, cells: np.ndarray, who: np.ndarray) -> None:
        """Add the cells of an access, and who touched each."""
        self.order = min(self.order, access.order)
        if cells.size:
            self._reach(int(cells.min()), int(cells.max()) + 1)
            np.minimum.at(self.lowest, cells - self.begin, who)
            np.maximum.at(self.highest, cells - self.begin, who)

    def _reach(self, low: int, high: int) -> None:
        """Extend the tables to hold these cells, and more if others touched some before."""
        size = len(self.lowest)
        begin, end = (self.begin, self.begin + size) if size else (low, low)
        if size and begin <= low and high <= end:
            return
        self.begin = max(min(begin, low) - size * (low < begin), 0)
        stop = min(max(end, high) + size * (high > end), self.allocation.storage.size)
        before = slice(begin - self.begin, begin - self.begin + size)
        lowest = np.full(stop - self.begin, _NO_ONE)
        highest = np.full(stop - self.begin, np.int32(-1))
        lowest[before], highest[before] = self.lowest, self.highest
        self.lowest, self.highest = lowest, highest

    def ends(self, cell: int) -> tuple[int, int]:
        """The lowest and the highest number that touched a cell."""
        place = cell - self.begin
        if not 0 <= place < len(self.lowest):
            return int(_NO_ONE), -1
        return int(self.lowest[place]), int(self.highest[place])

    def place_in_program(self) -> tuple[Any, ...]:
        """A sort key: a statement loads before it stores, whatever the schedule."""
        *where, _ = self.order
        return (*where, -1, KINDS[self.kind])

    def conflict(self, other: Touched) -> tuple[int, int, int] | None:
        """A cell that two different threads or blocks touched, one in each table, and which two."""
        begin = max(self.begin, other.begin)
        end = min(table.begin + len(table.lowest) for table in (self, other))
        here, there = (slice(begin - e.begin, max(end - e.begin, 0)) for e in (self, other))
        lowest = np.minimum(self.lowest[here], other.lowest[there])
        highest = np.maximum(self.highest[here], other.highest[there])
        touched = (self.highest[here] >= 0) & (other.highest[there] >= 0)
        both = touched & (lowest < highest)
        if not both.any():
            return None
        found = begin + int(np.argmax(both))
        one, another = self.ends(found)[0], other.ends(found)[1]
        if one == another:
            one, another = self.ends(found)[1], other.ends(found)[0]
        return found, one, another


# --- The search for conflicts ---------------------------------------------------------------------


ACCESSES_OF_A_LINE = 4
_NOBODY = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class CollectedAccess:
    """An access, and after how many `syncwarp` each lane made it (None: no lane had passed one).

    Their axes are blocks, warps, and lanes; the last one has length 1 while those of a warp agree.

    `pattern` is equal for accesses in which the same lanes touch the same cells in the same way.
    """

    access: Access
    warp_syncs: np.ndarray | None
    pattern: tuple[Any, ...]


def of_lanes(entry: CollectedAccess, mask: Mask) -> CollectedAccess:
    """The part of an entry that belongs to some of its lanes."""
    access = replace(entry.access, mask=mask)
    return replace(entry, access=access, pattern=pattern_of(access))


def pattern_of(access: Access) -> tuple[Any, ...]:
    """See `CollectedAccess.pattern`."""
    cell = np.ascontiguousarray(access.cell)
    where = (cell.shape, hashlib.blake2b(cell.tobytes(), digest_size=16).digest())
    lanes = access.mask.fingerprint
    lines = access.line, access.landed[-1:]
    return (access.kind, *lines, id(access.allocation), access.elements, where, lanes)


def fingerprint_of(group: list[CollectedAccess]) -> tuple[Any, ...]:
    """Equal for groups that touch the same cells in the same way."""
    return tuple(
        (access.pattern, None if access.warp_syncs is None else access.warp_syncs.tobytes())
        for access in group
    )


@dataclass(frozen=True, eq=False)
class AccessingLanes:
    """The active lanes of one entry, flat: the cell each touched and who it is.

    `key` tells cells of different blocks apart; `thread` and `warp` number the lanes of the whole
    space; `synced` is how many syncwarps the lane had passed.
    """

    key: np.ndarray
    cell: np.ndarray
    thread: np.ndarray
    warp: np.ndarray
    synced: np.ndarray | None


def memory_of(allocation: Allocation) -> int:
    """Equal for arrays that lie over the same bytes, as dynamic shared arrays and fields do."""
    allocation = allocation.root
    base = allocation.storage.base if allocation.space == "shared" else None
    return id(allocation if base is None else base)


def sizes_of(allocation: Allocation) -> tuple[int, ...]:
    """Sizes in bytes, each a multiple of the unit by which cells are told apart."""
    return (
        allocation.dtype.itemsize,
        allocation.spacing,
        allocation.address - allocation.root.address,
    )


def lanes_of(
    entry: CollectedAccess, space: LaneSpace, first_block_only: bool, unit: int
) -> AccessingLanes:
    """The lanes of an access, with cells of so many bytes."""
    access = entry.access
    active = access.mask.full_array.reshape(space.block_count, -1)
    if first_block_only:
        active = active[:1]
    lanes = np.flatnonzero(active)
    if first_block_only and np.ndim(access.cell):
        cell = spread(access.cell, (1, 1, 1, *space.threads)).reshape(-1)[lanes]
    else:
        cell = spread(access.cell, space.shape).reshape(-1)[lanes]
    cell, lanes = access.each_cell(cell, lanes)
    part: np.ndarray | int = 0
    allocation = access.allocation
    parts = allocation.dtype.itemsize // unit
    if parts > 1:  # an array of narrower cells lies over the same bytes
        part = np.tile(np.arange(parts), len(lanes))
        cell, lanes = np.repeat(cell, parts), np.repeat(lanes, parts)
    block, thread = np.divmod(lanes, space.block_size)
    warp = block * space.warps_per_block + thread // WARP_SIZE
    first = (allocation.address - allocation.root.address) // unit
    key = (first + cell * (allocation.spacing // unit) + part) * space.block_count + block
    synced = None
    if entry.warp_syncs is not None:
        of_lane = thread % WARP_SIZE if entry.warp_syncs.shape[2] > 1 else 0
        synced = entry.warp_syncs[block, thread // WARP_SIZE, of_lane]
    return AccessingLanes(key, cell, lanes, warp, synced)


def same_in_all_blocks(access: Access) -> bool:
    patterns = [access.cell] if access.mask.array is None else [access.cell, access.mask.array]
    return access.allocation.space == "shared" and all(
        np.ndim(pattern) == 0 or pattern.shape[:3] == (1, 1, 1) for pattern in patterns
    )


def conflicts(
    group: list[CollectedAccess], lanes: list[AccessingLanes], lanes_key: str, ordered: bool
) -> np.ndarray:
    """The cells that two different threads (or warps) touched, one of them writing.

    With `ordered`, accesses of one warp before and after a syncwarp are told apart.
    """
    keys = np.concatenate([lane.key for lane in lanes])
    who = np.concatenate([getattr(lane, lanes_key) for lane in lanes])
    if ordered:
        zero = [np.zeros(len(lane.key), np.int64) for lane in lanes]
        synced = [
            z if lane.synced is None else lane.synced for lane, z in zip(lanes, zero, strict=True)
        ]
        epochs = np.concatenate(synced)
        warps = np.concatenate([lane.warp for lane in lanes])
        cell_of, compact = _numbered_apart(keys, warps, epochs)
    else:
        cell_of, compact = _numbered(keys)
    compact = compact.reshape(-1)
    if np.bincount(compact).max(initial=0) < 2:
        result: np.ndarray = cell_of[:0]  # nobody touched what another touched
        return result
    kinds = np.concatenate(
        [
            np.full(len(of.key), KINDS[entry.access.kind])
            for entry, of in zip(group, lanes, strict=True)
        ]
    )
    return np.unique(cell_of[_conflicting(compact, who, kinds, len(cell_of))])


def _numbered(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Consecutive small numbers for keys; without sorting where possible."""
    largest = int(keys.max(initial=-1))
    if largest < 4 * len(keys):
        return np.arange(largest + 1), keys
    names, compact = np.unique(keys, return_inverse=True)
    return names, compact


def _numbered_apart(keys: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same where keys are told apart by more columns of whole numbers, too.

    A row becomes one number: whole rows are sorted ten times as slowly.
    """
    names, rows = _numbered(keys)
    spans = [int(column.max(initial=0)) + 1 for column in more]
    for column, span in zip(more, spans, strict=True):
        rows = rows * span + column
    apart, compact = np.unique(rows, return_inverse=True)
    return names[apart // math.prod(spans)], compact


def _conflicting(cells: np.ndarray, who: np.ndarray, kinds: np.ndarray, count: int) -> np.ndarray:
    """For each of `count` cells, whether two different threads touched it and one wrote.

    Plain loads do not conflict with loads, nor atomics with atomics.
    """
    lowest = np.full((3, count), _NOBODY)
    highest = np.full((3, count), -1)
    np.minimum.at(lowest, (kinds, cells), who)
    np.maximum.at(highest, (kinds, cells), who)
    load, atomic, store = 0, 1, 2
    everyone_low, everyone_high = lowest.min(axis=0), highest.max(axis=0)
    by_store = (highest[store] >= 0) & (everyone_low != everyone_high)
    mixed = (highest[atomic] >= 0) & (highest[load] >= 0)
    low = np.minimum(lowest[atomic], lowest[load])
    high = np.maximum(highest[atomic], highest[load])
    result: np.ndarray = by_store | (mixed & (low != high))
    return result


def two_threads(
    a: AccessingLanes, places: np.ndarray, b: AccessingLanes, others: np.ndarray
) -> tuple[int, int] | None:
    """Two lanes, one of each access, that are different threads with no syncwarp between."""
    fallback = None
    for i in places[:64]:
        different = b.thread[others] != a.thread[i]
        if a.synced is not None or b.synced is not None:
            mine = 0 if a.synced is None else a.synced[i]
            theirs = 0 if b.synced is None else b.synced[others]
            different &= (b.warp[others] != a.warp[i]) | (theirs == mine)
        elsewhere = different & (b.warp[others] != a.warp[i])
        if elsewhere.any():
            # Two warps make the clearer example: nobody expects them to run in step.
            return int(i), int(others[np.argmax(elsewhere)])
        if fallback is None and different.any():
            fallback = int(i), int(others[np.argmax(different)])
    return fallback


def few_of_each_line(
    touched: Iterable[tuple[Access, np.ndarray]],
) -> list[tuple[Access, np.ndarray]]:
    """The first accesses of each line to a cell: later rounds of a loop would only repeat them."""
    kept: dict[tuple[str, int], list[tuple[Access, np.ndarray]]] = {}
    for access, places in touched:
        of_line = kept.setdefault((access.kind, access.line), [])
        if len(of_line) < ACCESSES_OF_A_LINE:
            of_line.append((access, places))
    few = [touch for of_line in kept.values() for touch in of_line]
    return sorted(few, key=lambda touch: touch[0].order)


def updating_lines(
    touched: Iterable[tuple[Access, np.ndarray]], lanes: Mapping[int, AccessingLanes]
) -> set[int]:
    """The lines on which several threads read a cell and write it back, in one turn of a loop."""
    threads: dict[tuple[str, int, tuple[int, ...]], set[int]] = {}
    for access, places in touched:
        turn = threads.setdefault((access.kind, access.line, access.order[:-1]), set())
        turn.update(lanes[id(access)].thread[places].tolist())
    return {
        line
        for kind, line, turn in threads
        if kind == "load"
        and len(threads[kind, line, turn] & threads.get(("store", line, turn), set())) > 1
    }


def changing_threads(
    touched: Iterable[tuple[Access, np.ndarray]], lanes: Mapping[int, AccessingLanes]
) -> set[tuple[tuple[int, ...], int]]:
    """The threads that read a cell and write it in one turn of a loop, each with that turn."""
    by_kind: dict[str, set[tuple[tuple[int, ...], int]]] = {}
    for access, places in touched:
        turn, threads = access.order[:-2], lanes[id(access)].thread[places].tolist()
        by_kind.setdefault(access.kind, set()).update((turn, thread) for thread in threads)
    return by_kind.get("load", set()) & by_kind.get("store", set())


def cells_and_threads(access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray]:
    """For each active lane, its cell (each block's shared cells apart) and its number."""
    cells, lanes = access.touched
    if access.allocation.space == "shared":
        cells = cells * space.block_count + lanes // space.block_size
    return cells, lanes.astype(np.int32)
