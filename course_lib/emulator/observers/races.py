"""Finds data races: two threads, one cell, at least one write, and no order between them.

Within a block a barrier orders all accesses before it and all after it; `syncwarp` does so for
the threads of one warp. Blocks are never ordered within a launch. The accesses between two
barriers are collected, and at the barrier it is asked of every cell whether two different
threads touched it and one of them wrote. The order in which the emulator happened to run the
lanes plays no part, so running them in lockstep cannot hide a race.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.touched import (
    KINDS,
    Touched,
    conflicts_of_lines,
    touched_by,
    updated_by_several,
)
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory

# Accesses of this many lanes are kept one by one; then they are folded into a table by cells, so
# that a long stretch without a barrier cannot fill the memory.
MAX_COLLECTED_LANES = 2_000_000
MAX_REPORTED = 12
# Of the cells with a conflict so many are looked at in detail; their races are nearly all alike.
MAX_CELLS_EXAMINED = 24
ACCESSES_OF_A_LINE = 4
_NOBODY = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Race:
    """Two accesses to one cell that nothing orders.

    `first` and `second` are in program order; threads and blocks are (x, y, z). `updates`: both
    threads read the cell, change it and write it back, all on the one line.
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
    updates: bool = False


@dataclass(frozen=True, eq=False)
class _Entry:
    """An access, and how many `syncwarp` each warp had passed before it (None: none had).

    `pattern` is equal for accesses in which the same lanes touch the same cells in the same way.
    """

    access: Access
    warp_syncs: np.ndarray | None
    pattern: tuple[Any, ...]


class RaceDetector(Observer):
    """Collects the accesses of the blocks that run side by side and judges them at their barriers.

    Args:
        written_globals: the global arrays that the kernel writes, by id; others need no record.
        report: told of every race when the blocks have ended.
    """

    spaces = ("global", "shared")

    def __init__(self, written_globals: set[int], report: Callable[[Race], None]) -> None:
        self._written_globals = written_globals
        self._tell = report

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space
        self._by_lines: dict[tuple[str, str, int, int], Race] = {}
        self._entries: list[_Entry] = []
        self._known: set[tuple[Any, ...]] = set()
        self._lanes = 0
        self._clean: set[tuple[Any, ...]] = set()
        self._guilty: set[tuple[Any, ...]] = set()
        self._warp_syncs: np.ndarray | None = None
        self._folded: dict[int, dict[tuple[str, int], Touched]] = {}
        self._owners = np.empty(0, np.int32)

    def landed(self, access: Access) -> None:
        self.access(access)

    def access(self, access: Access) -> None:
        """Take note of an access to shared memory, or to a global array that is also written."""
        space = access.allocation.space
        if space == "local" or access.mask.empty:
            return
        if space == "global" and id(access.allocation.root) not in self._written_globals:
            return
        # A loop that does the same again with the same lanes adds nothing: once is enough.
        pattern = _pattern(access)
        mark = (*pattern, id(self._warp_syncs))
        if mark in self._known:
            return
        self._known.add(mark)
        self._entries.append(_Entry(access, self._warp_syncs, pattern))
        self._lanes += np.size(access.cell) * access.elements
        if self._lanes > MAX_COLLECTED_LANES:
            self._fold()

    def _fold(self) -> None:
        """Keep of the accesses so far only the lowest and the highest thread for each cell."""
        entries, self._entries, self._lanes = self._entries, [], 0
        # What syncwarp orders cannot be folded; it is judged now.
        self._judge([each for each in entries if each.warp_syncs is not None])
        for entry in entries:
            access = entry.access
            if entry.warp_syncs is None:
                of_array = self._folded.setdefault(id(access.allocation), {})
                cells, threads = _cells_and_threads(access, self.space)
                touched_by(of_array, access).add(access, cells, threads)

    def _judge_folded(self) -> None:
        folded, self._folded = self._folded, {}
        for of_array in folded.values():
            for first, second, cell, one, other in conflicts_of_lines(of_array.values()):
                race = self._race_of_lines(first, second, cell, one, other)
                race = replace(race, updates=updated_by_several(of_array, first, second, cell))
                self._keep(race)

    def _keep(self, race: Race) -> None:
        """Keep one race for each pair of lines: between two warps, if there is one."""
        lines = (race.code, race.array, race.first_line, race.second_line)
        known = self._by_lines.get(lines)
        clearer = known is not None and known.same_warp and not race.same_warp
        if clearer or (known is None and len(self._by_lines) < MAX_REPORTED):
            self._by_lines[lines] = race

    def _race_of_lines(
        self, first: Touched, second: Touched, place: int, one: int, other: int
    ) -> Race:
        block_a, thread_a = self.space.describe(one)
        block_b, thread_b = self.space.describe(other)
        allocation = first.allocation
        cell = place // self.space.block_count if allocation.space == "shared" else place
        size, number = self.space.block_size, (one, other)
        warps = {(each // size, each % size // WARP_SIZE) for each in number}
        return Race(
            code=code_of(first.kind, second.kind),
            array=allocation.name,
            cell=allocation.element_name(cell),
            space=allocation.space,
            first_kind=first.kind,
            first_line=first.line,
            first_thread=thread_a,
            first_block=block_a,
            second_kind=second.kind,
            second_line=second.line,
            second_thread=thread_b,
            second_block=block_b,
            same_warp=len(warps) == 1,
        )

    def syncwarp(self, mask: Mask) -> None:
        """All active lanes passed a `syncwarp`."""
        warps = self.space.warps_of(mask.full_array, False).any(axis=2)
        passed = np.asarray(warps, np.int64)
        self._warp_syncs = passed if self._warp_syncs is None else self._warp_syncs + passed

    def end(self) -> None:
        self._judge_before_a_barrier(None)
        # Races between warps first: they are the clearer example of a missing barrier.
        for race in sorted(self._by_lines.values(), key=lambda race: race.same_warp):
            self._tell(race)

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        blocks = arrived.lanes_by_block > 0
        passing = None
        if not blocks.all():
            passing = Mask.of(self.space, blocks.reshape(*self.space.blocks, 1, 1, 1))
        self._judge_before_a_barrier(passing)

    def _judge_before_a_barrier(self, passing: Mask | None) -> None:
        """Judge what the blocks in `passing` (None: all) have done since the barrier before."""
        if self._folded:
            self._fold()
            self._judge_folded()
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
                passed.append(_of_lanes(entry, inside))
            if not outside.empty:
                waiting.append(_of_lanes(entry, outside))
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
            if self._written_cells_have_one_thread(group):
                self._clean.add(mark)
                continue
            if self._judge_group(group):
                self._guilty.add(lines)
            else:
                self._clean.add(mark)

    def _written_cells_have_one_thread(self, group: Sequence[_Entry]) -> bool:
        """Whether every cell that one thread writes is touched by no other: then nothing races.

        Cheap, and nearly always so: the threads leave their numbers in the cells that they write,
        and whoever finds another number than its own was not alone there.
        """
        allocation = group[0].access.allocation
        if any(entry.access.allocation is not allocation for entry in group):
            return False
        cells = allocation.storage.size
        if len(self._owners) < cells:
            self._owners = np.empty(cells, np.int32)
        loads = [entry for entry in group if entry.access.kind == "load"]
        writes = [entry for entry in group if entry.access.kind != "load"]
        read = [_cells_and_threads(entry.access, self.space) for entry in loads]
        written = [_cells_and_threads(entry.access, self.space) for entry in writes]
        # What lies in the table from before counts for nothing: all that is looked at is set here.
        for places, _ in read:
            self._owners[places] = -1
        for places, threads in written:
            self._owners[places] = threads
        shared = [self._owners[places] != threads for places, threads in written]
        for places, threads in read:
            owners = self._owners[places]
            shared.append((owners >= 0) & (owners != threads))
        return not any(map(np.count_nonzero, shared))

    def _judge_group(self, group: list[_Entry]) -> bool:
        """Look for races among accesses to one array; whether there was one."""
        group = sorted(group, key=lambda entry: entry.access.order)
        # Accesses that look the same in every block are judged in the first block only.
        alike = all(_same_in_all_blocks(entry.access) for entry in group)
        unit = math.gcd(*(size for entry in group for size in _sizes(entry.access.allocation)))
        lanes = [_lanes_of(entry, self.space, alike, unit) for entry in group]
        before = len(self._by_lines)
        synced = any(entry.warp_syncs is not None for entry in group)
        if not synced:
            self._report(group, _conflicts(group, lanes, lanes_key="thread", ordered=False), lanes)
        else:
            self._report(group, _conflicts(group, lanes, lanes_key="warp", ordered=False), lanes)
            self._report(group, _conflicts(group, lanes, lanes_key="thread", ordered=True), lanes)
        return len(self._by_lines) > before

    def _report(self, group: list[_Entry], cells: np.ndarray, lanes: list[_Lanes]) -> None:
        chosen = np.linspace(0, len(cells) - 1, min(len(cells), MAX_CELLS_EXAMINED)).astype(int)
        for key in cells[chosen]:
            for race in self._pairs(group, key, lanes):
                self._keep(race)

    def _pairs(self, group: list[_Entry], key: int, lanes: list[_Lanes]) -> Iterable[Race]:
        """The races on one cell: the first conflicting pair of threads for each pair of lines."""
        touched = _few_of_each_line(
            (entry.access, place)
            for entry, of_entry in zip(group, lanes, strict=True)
            for place in [np.flatnonzero(of_entry.key == key)]
            if len(place)
        )
        chosen = {id(entry.access): of for entry, of in zip(group, lanes, strict=True)}
        updating = _updating_lines(touched, chosen)
        for number, (first, places) in enumerate(touched):
            for second, others in touched[number:]:
                if first.kind == second.kind and first.kind in ("load", "atomic"):
                    continue
                a, b = chosen[id(first)], chosen[id(second)]
                pair = _two_threads(a, places, b, others)
                if pair is not None:
                    race = self._race(first, a, pair[0], second, b, pair[1])
                    updates = first.line == second.line and first.line in updating
                    yield replace(race, updates=updates)

    def _race(self, first: Access, a: _Lanes, i: int, second: Access, b: _Lanes, j: int) -> Race:
        block_a, thread_a = self.space.describe(int(a.lane[i]))
        block_b, thread_b = self.space.describe(int(b.lane[j]))
        cell = int(a.cell[i])
        return Race(
            code=code_of(first.kind, second.kind),
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


def code_of(first: str, second: str) -> str:
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
    """Equal for arrays that lie over the same bytes, as dynamic shared arrays and fields do."""
    allocation = allocation.root
    base = allocation.storage.base if allocation.space == "shared" else None
    return id(allocation if base is None else base)


def _sizes(allocation: Allocation) -> tuple[int, ...]:
    """Numbers of bytes, of which each is a multiple of the unit that tells cells apart."""
    return (
        allocation.dtype.itemsize,
        allocation.spacing,
        allocation.address - allocation.root.address,
    )


def _lanes_of(entry: _Entry, space: LaneSpace, first_block_only: bool, unit: int) -> _Lanes:
    """The lanes of an access; cells are told apart in units of so many bytes."""
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
    """Names for small numbers, and the small number of each key; without sorting where it can."""
    largest = int(keys.max(initial=-1))
    if largest < 4 * len(keys):
        return np.arange(largest + 1), keys
    names, compact = np.unique(keys, return_inverse=True)
    return names, compact


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


def _updating_lines(
    touched: Iterable[tuple[Access, np.ndarray]], lanes: Mapping[int, _Lanes]
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


def _of_lanes(entry: _Entry, mask: Mask) -> _Entry:
    """The part of an entry that some of its lanes have."""
    access = replace(entry.access, mask=mask)
    return replace(entry, access=access, pattern=_pattern(access))


def _line(entry: _Entry) -> tuple[str, int]:
    return entry.access.kind, entry.access.line


def _pattern(access: Access) -> tuple[Any, ...]:
    """See `_Entry.pattern`."""
    cell = np.ascontiguousarray(access.cell)
    where = (cell.shape, hashlib.blake2b(cell.tobytes(), digest_size=16).digest())
    lanes = access.mask.fingerprint
    return (access.kind, access.line, id(access.allocation), access.elements, where, lanes)


def _fingerprint(group: list[_Entry]) -> tuple[Any, ...]:
    """Equal for groups that touch the same cells in the same way."""
    return tuple(
        (each.pattern, None if each.warp_syncs is None else each.warp_syncs.tobytes())
        for each in group
    )


def _cells_and_threads(access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray]:
    """For each active lane, its cell (each block's shared cells apart) and its number."""
    cells, lanes = spread(access.cell, space.shape).reshape(-1), space.lane_number.reshape(-1)
    if access.mask.array is not None:
        lanes = np.flatnonzero(access.mask.full_array)
        cells = cells[lanes]
    cells, lanes = access.each_cell(cells, lanes)
    if access.allocation.space == "shared":
        cells = cells * space.block_count + lanes // space.block_size
    return cells, lanes.astype(np.int32)
