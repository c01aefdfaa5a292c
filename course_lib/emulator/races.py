"""Finds data races: two threads, one cell, at least one write, and no order between them.

Within a block a barrier orders all accesses before it and all after it; `syncwarp` does so for
the threads of one warp. Blocks are never ordered within a launch. The accesses between two
barriers are collected, and at the barrier it is asked of every cell whether two different
threads touched it and one of them wrote. The order in which the emulator happened to run the
lanes plays no part, so running them in lockstep cannot hide a race.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.emulator.lanes import WARP_SIZE, LaneSpace, Mask
from course_lib.emulator.memory import Access, Allocation

# Flush the collected accesses when they hold this many lanes, so that a long stretch without a
# barrier cannot fill the memory.
MAX_COLLECTED_LANES = 40_000_000
MAX_REPORTED = 12
# Of the cells with a conflict so many are looked at in detail; their races are nearly all alike.
MAX_CELLS_EXAMINED = 24
ACCESSES_OF_A_LINE = 4
_NOBODY = np.iinfo(np.int64).max
_NO_BLOCK = np.int32(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Race:
    """Two accesses to one cell that nothing orders.

    `first` and `second` are in program order; threads and blocks are (x, y, z).
    """

    code: str
    array: str
    cell: str
    space: str
    first_kind: str
    first_line: int
    first_thread: tuple[int, int, int]
    first_block: tuple[int, int, int]
    second_kind: str
    second_line: int
    second_thread: tuple[int, int, int]
    second_block: tuple[int, int, int]
    same_warp: bool


@dataclass(frozen=True, eq=False)
class _Entry:
    """An access, and how many `syncwarp` each warp had passed before it (None: none had)."""

    access: Access
    warp_syncs: np.ndarray | None


class RaceDetector:
    """Collects the accesses of one space and judges them at its barriers."""

    def __init__(self, space: LaneSpace, written_globals: set[int]) -> None:
        self.space = space
        self.races: list[Race] = []
        self._seen: set[tuple[str, str, int, int]] = set()
        self._entries: list[_Entry] = []
        self._known: set[tuple] = set()
        self._lanes = 0
        self._clean: set[tuple] = set()
        self._guilty: set[tuple] = set()
        # Only arrays that the kernel writes can be raced on; others need no record.
        self._written_globals = written_globals
        self._warp_syncs: np.ndarray | None = None

    def record(self, access: Access) -> None:
        """Take note of an access to shared memory, or to a global array that is also written."""
        space = access.allocation.space
        if space == "local" or access.mask.empty:
            return
        if space == "global" and id(access.allocation) not in self._written_globals:
            return
        # A loop that does the same again with the same lanes adds nothing: once is enough.
        mark = (*_pattern(access), id(self._warp_syncs))
        if mark in self._known:
            return
        self._known.add(mark)
        self._entries.append(_Entry(access, self._warp_syncs))
        self._lanes += np.size(access.cell)
        if self._lanes > MAX_COLLECTED_LANES:
            self.barrier(None)

    def syncwarp(self, mask: Mask) -> None:
        """All active lanes passed a `syncwarp`."""
        warps = self.space.warps_of(mask.full_array, False).any(axis=2)
        before = 0 if self._warp_syncs is None else self._warp_syncs
        self._warp_syncs = before + warps.astype(np.int64)

    def barrier(self, passing: Mask | None) -> None:
        """The blocks in `passing` (None: all) passed a barrier: judge what they did before it."""
        entries, self._entries, self._lanes = self._entries, [], 0
        self._known = set()
        if passing is not None and passing.array is not None:
            entries, waiting = self._split(entries, passing)
            self._entries = waiting
        else:
            self._warp_syncs = None
        self._judge(entries)

    def _split(self, entries: list[_Entry], passing: Mask) -> tuple[list[_Entry], list[_Entry]]:
        passed, waiting = [], []
        for entry in entries:
            inside = entry.access.mask.where(passing.full_array)
            outside = entry.access.mask.without(passing)
            if not inside.empty:
                passed.append(replace(entry, access=replace(entry.access, mask=inside)))
            if not outside.empty:
                waiting.append(replace(entry, access=replace(entry.access, mask=outside)))
        return passed, waiting

    def _judge(self, entries: list[_Entry]) -> None:
        by_memory: dict[int, list[_Entry]] = {}
        for entry in entries:
            by_memory.setdefault(_memory_of(entry.access.allocation), []).append(entry)
        for group in by_memory.values():
            if all(entry.access.kind == "load" for entry in group):
                continue
            # Lines that were found to race once need not be found to race again.
            memory = _memory_of(group[0].access.allocation)
            lines = (memory, *dict.fromkeys(_line(e) for e in group))
            if lines in self._guilty:
                continue
            mark = _fingerprint(group)
            if mark in self._clean:
                continue
            if self._judge_group(group):
                self._guilty.add(lines)
            else:
                self._clean.add(mark)

    def _judge_group(self, group: list[_Entry]) -> bool:
        """Look for races among accesses to one array; whether there was one."""
        group = sorted(group, key=lambda entry: entry.access.order)
        # Accesses that look the same in every block are judged in the first block only.
        alike = all(_same_in_all_blocks(entry.access) for entry in group)
        unit = min(entry.access.allocation.dtype.itemsize for entry in group)
        lanes = [_lanes_of(entry, self.space, alike, unit) for entry in group]
        before = len(self.races)
        synced = any(entry.warp_syncs is not None for entry in group)
        if not synced:
            self._report(group, _conflicts(group, lanes, lanes_key="thread", ordered=False), lanes)
        else:
            self._report(group, _conflicts(group, lanes, lanes_key="warp", ordered=False), lanes)
            self._report(group, _conflicts(group, lanes, lanes_key="thread", ordered=True), lanes)
        return len(self.races) > before

    def _report(self, group: list[_Entry], cells: np.ndarray, lanes: list[_Lanes]) -> None:
        spread = np.linspace(0, len(cells) - 1, min(len(cells), MAX_CELLS_EXAMINED)).astype(int)
        for key in cells[spread]:
            for race in self._pairs(group, key, lanes):
                if len(self.races) >= MAX_REPORTED:
                    return
                mark = (race.code, race.array, race.first_line, race.second_line)
                if mark not in self._seen:
                    self._seen.add(mark)
                    self.races.append(race)

    def _pairs(self, group: list[_Entry], key: int, lanes: list[_Lanes]) -> Iterable[Race]:
        """The races on one cell: the first conflicting pair of threads for each pair of lines."""
        touched = _few_of_each_line(
            (entry.access, place)
            for entry, of_entry in zip(group, lanes, strict=True)
            for place in [np.flatnonzero(of_entry.key == key)]
            if len(place)
        )
        chosen = {id(entry.access): of for entry, of in zip(group, lanes, strict=True)}
        for number, (first, places) in enumerate(touched):
            for second, others in touched[number:]:
                if first.kind == second.kind and first.kind in ("load", "atomic"):
                    continue
                a, b = chosen[id(first)], chosen[id(second)]
                pair = _two_threads(a, places, b, others)
                if pair is not None:
                    yield self._race(first, a, pair[0], second, b, pair[1])

    def _race(self, first: Access, a: _Lanes, i: int, second: Access, b: _Lanes, j: int) -> Race:
        block_a, thread_a = self.space.describe(int(a.lane[i]))
        block_b, thread_b = self.space.describe(int(b.lane[j]))
        cell = int(a.cell[i])
        return Race(
            code=_code(first.kind, second.kind),
            array=first.allocation.name,
            cell=first.allocation.element_name(cell),
            space=first.allocation.space,
            first_kind=first.kind,
            first_line=first.line,
            first_thread=thread_a,
            first_block=block_a,
            second_kind=second.kind,
            second_line=second.line,
            second_thread=thread_b,
            second_block=block_b,
            same_warp=bool(a.warp[i] == b.warp[j]),
        )


def _code(first: str, second: str) -> str:
    if first == "load":
        return "race-write-after-read"
    return "race-read-after-write" if second == "load" else "race-write-after-write"


@dataclass(frozen=True, eq=False)
class _Lanes:
    """The active lanes of one entry, flat: the cell each touched and who it is.

    `key` tells cells of different blocks apart; `thread` and `warp` number the lanes of the whole
    space; `synced` is how many syncwarps the lane's warp had passed.
    """

    key: np.ndarray
    cell: np.ndarray
    thread: np.ndarray
    warp: np.ndarray
    lane: np.ndarray
    synced: np.ndarray | None


def _memory_of(allocation: Allocation) -> int:
    """Equal for arrays that lie over the same bytes, as dynamic shared arrays do."""
    base = allocation.storage.base if allocation.space == "shared" else None
    return id(allocation if base is None else base)


def _lanes_of(entry: _Entry, space: LaneSpace, first_block_only: bool, unit: int) -> _Lanes:
    """The lanes of an access; cells are told apart in units of so many bytes."""
    access = entry.access
    active = access.mask.full_array.reshape(space.block_count, -1)
    if first_block_only:
        active = active[:1]
    lanes = np.flatnonzero(active)
    if first_block_only and np.ndim(access.cell):
        cell = np.broadcast_to(access.cell, (1, 1, 1, *space.threads)).reshape(-1)[lanes]
    else:
        cell = np.broadcast_to(access.cell, space.shape).reshape(-1)[lanes]
    part: np.ndarray | int = 0
    parts = access.allocation.dtype.itemsize // unit
    if parts > 1:  # an array of narrower cells lies over the same bytes
        part = np.tile(np.arange(parts), len(lanes))
        cell, lanes = np.repeat(cell, parts), np.repeat(lanes, parts)
    block, thread = np.divmod(lanes, space.block_size)
    warp = block * space.warps_per_block + thread // WARP_SIZE
    key = (cell * parts + part) * space.block_count + block
    synced = None if entry.warp_syncs is None else entry.warp_syncs.reshape(-1)[warp]
    return _Lanes(key, cell, lanes, warp, lanes, synced)


def _same_in_all_blocks(access: Access) -> bool:
    patterns = [access.cell] if access.mask.array is None else [access.cell, access.mask.array]
    return access.allocation.space == "shared" and all(
        np.ndim(each) == 0 or each.shape[:3] == (1, 1, 1) for each in patterns
    )


def _conflicts(
    group: list[_Entry], lanes: list[_Lanes], lanes_key: str, ordered: bool
) -> np.ndarray:
    """The cells that two different threads (or warps) touched, one of them writing.

    With `ordered`, accesses of one warp before and after a syncwarp are told apart.
    """
    keys = np.concatenate([each.key for each in lanes])
    who = np.concatenate([getattr(each, lanes_key) for each in lanes])
    if ordered:
        zero = [np.zeros(len(each.key), np.int64) for each in lanes]
        synced = [
            z if each.synced is None else each.synced for each, z in zip(lanes, zero, strict=True)
        ]
        epochs = np.concatenate(synced)
        warps = np.concatenate([each.warp for each in lanes])
        combined = np.stack([keys, warps, epochs])
        names, compact = np.unique(combined, axis=1, return_inverse=True)
        cell_of = names[0]
    else:
        cell_of, compact = _numbered(keys)
    compact = compact.reshape(-1)
    if np.bincount(compact).max(initial=0) < 2:
        return cell_of[:0]  # nobody touched what another touched
    kinds = np.concatenate(
        [
            np.full(len(of.key), _KINDS[entry.access.kind])
            for entry, of in zip(group, lanes, strict=True)
        ]
    )
    return np.unique(cell_of[_conflicting(compact, who, kinds, len(cell_of))])


def _numbered(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Names for small numbers, and the small number of each key; without sorting where it can."""
    largest = int(keys.max(initial=-1))
    if largest < 4 * len(keys):
        return np.arange(largest + 1), keys
    names, compact = np.unique(keys, return_inverse=True)
    return names, compact


_KINDS = {"load": 0, "atomic": 1, "store": 2}


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
    return by_store | (mixed & (low != high))


def _two_threads(
    a: _Lanes, places: np.ndarray, b: _Lanes, others: np.ndarray
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


def _few_of_each_line(
    touched: Iterable[tuple[Access, np.ndarray]],
) -> list[tuple[Access, np.ndarray]]:
    """The first accesses of each line to a cell: a loop's later rounds would only repeat them."""
    kept: dict[tuple[str, int], list[tuple[Access, np.ndarray]]] = {}
    for access, places in touched:
        of_line = kept.setdefault((access.kind, access.line), [])
        if len(of_line) < ACCESSES_OF_A_LINE:
            of_line.append((access, places))
    few = [each for of_line in kept.values() for each in of_line]
    return sorted(few, key=lambda each: each[0].order)


def _line(entry: _Entry) -> tuple[str, int]:
    return entry.access.kind, entry.access.line


def _pattern(access: Access) -> tuple:
    """Equal for accesses in which the same lanes touch the same cells in the same way."""
    cell = np.ascontiguousarray(access.cell)
    where = (cell.shape, hashlib.blake2b(cell.tobytes(), digest_size=16).digest())
    return (access.kind, access.line, id(access.allocation), where, access.mask.fingerprint)


def _fingerprint(group: list[_Entry]) -> tuple:
    """Equal for groups that touch the same cells in the same way."""
    return tuple(
        (_pattern(each.access), None if each.warp_syncs is None else each.warp_syncs.tobytes())
        for each in group
    )


class BlockRaces:
    """Finds cells of global memory that two blocks touch in one launch, one of them writing.

    Nothing orders blocks, so their accesses conflict wherever in the kernel they stand. For each
    line and kind of access it is kept which blocks touched a cell, the lowest and the highest of
    them; all is judged when the launch has ended. One order between blocks is understood: what a
    block wrote before a `threadfence` and an atomic operation may be read by a block that did the
    same atomic operation later and reads after it, as the last block of a sum does.

    Args:
        grid: the grid's size, (z, y, x).
        fences: the lines that call `threadfence`.
    """

    def __init__(self, grid: tuple[int, int, int], fences: Sequence[int] = ()) -> None:
        self.grid = grid
        self.fences = fences
        # For each line with an atomic operation, which blocks did it, and when.
        self._turns: dict[int, dict[int, int]] = {}
        self._touched: dict[int, dict[tuple[str, int], _Touched]] = {}

    def record(self, access: Access, space: LaneSpace) -> None:
        """Take note of an access to a global array that the kernel writes."""
        of_array = self._touched.setdefault(id(access.allocation), {})
        key = (access.kind, access.line)
        if key not in of_array:
            of_array[key] = _Touched(access.kind, access.line, access.allocation, access.order)
        blocks = of_array[key].add(access, space)
        if self.fences and access.kind == "atomic":
            turns = self._turns.setdefault(access.line, {})
            for block in dict.fromkeys(blocks.tolist()):
                turns[block] = len(turns)

    @property
    def races(self) -> list[Race]:
        """The first conflict of each two lines, in the program's order."""
        races: list[Race] = []
        for of_array in self._touched.values():
            touched = sorted(of_array.values(), key=_Touched.place_in_program)
            for number, first in enumerate(touched):
                for second in touched[number:]:
                    if first.kind == second.kind and first.kind in ("load", "atomic"):
                        continue
                    found = first.conflict(second, self._releases(first.line, second.line))
                    if found is not None:
                        races.append(self._race(first, second, *found))
        return races[:MAX_REPORTED]

    def _releases(self, first: int, second: int) -> list[dict[int, int]]:
        """The atomic operations between two lines that a fence precedes: who did them, and when."""
        return [
            turns
            for line, turns in self._turns.items()
            if line < second and any(first < fence < line for fence in self.fences)
        ]

    def _race(self, first: _Touched, second: _Touched, cell: int, one: int, other: int) -> Race:
        return Race(
            code=_code(first.kind, second.kind),
            array=first.allocation.name,
            cell=first.allocation.element_name(cell),
            space="global",
            first_kind=first.kind,
            first_line=first.line,
            first_thread=(0, 0, 0),
            first_block=_block_place(one, self.grid),
            second_kind=second.kind,
            second_line=second.line,
            second_thread=(0, 0, 0),
            second_block=_block_place(other, self.grid),
            same_warp=False,
        )


class _Touched:
    """Which blocks touched each cell of an array in one way, from one line."""

    def __init__(
        self, kind: str, line: int, allocation: Allocation, order: tuple[int, ...]
    ) -> None:
        self.kind = kind
        self.line = line
        self.allocation = allocation
        self.order = order
        cells = allocation.storage.size
        self.lowest = np.full(cells, _NO_BLOCK)
        self.highest = np.full(cells, np.int32(-1))

    def add(self, access: Access, space: LaneSpace) -> np.ndarray:
        """Add the cells and blocks of an access; the blocks, lane by lane."""
        self.order = min(self.order, access.order)
        shape = np.broadcast_shapes(np.shape(access.cell) or (1,) * 6, (*space.blocks, 1, 1, 1))
        active = access.mask.array
        if active is not None:
            shape = np.broadcast_shapes(shape, active.shape)
        cells = np.broadcast_to(access.cell, shape)
        blocks = np.broadcast_to(space.block_in_grid, shape)
        where = slice(None) if active is None else np.broadcast_to(active, shape)
        cells, blocks = cells[where].reshape(-1), blocks[where].reshape(-1).astype(np.int32)
        np.minimum.at(self.lowest, cells, blocks)
        np.maximum.at(self.highest, cells, blocks)
        return blocks

    def place_in_program(self) -> tuple:
        """To sort by; a statement loads before it stores, whatever the schedule."""
        *where, _ = self.order
        return (*where, -1, _KINDS[self.kind])

    def conflict(
        self, other: _Touched, releases: Sequence[dict[int, int]] = ()
    ) -> tuple[int, int, int] | None:
        """A cell that both touched from different blocks, and those blocks.

        Where one block alone touched the cell before, and one alone after, their turns at an
        atomic operation can order them.
        """
        lowest = np.minimum(self.lowest, other.lowest)
        highest = np.maximum(self.highest, other.highest)
        both = (self.highest >= 0) & (other.highest >= 0) & (lowest < highest)
        for turns in releases:
            alone = both & (self.lowest == self.highest) & (other.lowest == other.highest)
            for cell in np.flatnonzero(alone):
                before, after = (turns.get(int(each.lowest[cell])) for each in (self, other))
                if before is not None and after is not None and before < after:
                    both[cell] = False
        if not both.any():
            return None
        cell = int(np.argmax(both))
        one, another = int(self.lowest[cell]), int(other.highest[cell])
        if one == another:
            one, another = int(self.highest[cell]), int(other.lowest[cell])
        return cell, one, another


def _block_place(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(i) for i in np.unravel_index(number, grid))
    return x, y, z
