"""Races that no barrier orders: within a block (`RaceDetector`), and across blocks (`BlockRaces`).

A race: two threads, one cell, at least one write, and no order between them. Kernels that order
threads by atomics and fences, or use Hopper's engine, are for `ordered_races.py`.

Within a block a barrier orders all accesses before it and all after it; `syncwarp` does so for
the threads of one warp. Blocks are never ordered within a launch. The accesses between two
barriers are collected, and at the barrier every cell is checked: did two different threads touch
it, one of them writing? (`race_search.py`) The order in which the emulator happened to run the
lanes plays no part, so running them in lockstep cannot hide a race.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.race_search import (
    AccessingLanes,
    CollectedAccess,
    Shape,
    Touched,
    TouchTables,
    cells_and_threads,
    changing_threads,
    conflicts,
    few_of_each_line,
    fingerprint_of,
    lanes_of,
    memory_of,
    of_lanes,
    pattern_of,
    same_in_all_blocks,
    shapes_of,
    sizes_of,
    stacked,
    two_threads,
    updating_lines,
)
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, spread
from course_lib.emulator.state.memory import Access, Allocation, Memory

# Accesses of this many lanes are kept one by one; then they are folded into a table by cells, so
# that a long stretch without a barrier cannot fill the memory.
MAX_COLLECTED_LANES = 2_000_000
MAX_REPORTED = 12  # of each array, so that no array hides behind another
# Of the cells with a conflict so many are looked at in detail; their races are nearly all alike.
MAX_CELLS_EXAMINED = 24


@dataclass(frozen=True)
class RacingAccess:
    """One of two accesses that race; thread and block are (x, y, z)."""

    kind: str
    line: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Race:
    """Two accesses to one cell that nothing orders.

    `first` and `second` are in program order. `updates`: both threads read the cell, change it and
    write it back, all on the one line; `both_change`: on several lines, in one turn of a loop;
    `lacks_fence`: with a fence, an atomic operation between the two would order them.
    `beside_threads`: a copy or product that a thread has started does one of the two, or both;
    `released_in`: the line of an arrival that let the second one begin, though the first was still
    under way; `waited_at`: the line of a wait between the two that is too weak: one in which the
    first, an asynchronous copy, landed, or a syncwarp; `order`: that of the second access.
    """

    allocation: Allocation
    cell: str
    first: RacingAccess
    second: RacingAccess
    same_warp: bool = False
    updates: bool = False
    both_change: bool = False
    lacks_fence: bool = False
    beside_threads: bool = False
    released_in: int = 0
    waited_at: int = 0
    order: tuple[int, ...] = ()

    @property
    def code(self) -> str:
        """Of the finding."""
        if self.first.kind == "load":
            return "race-write-after-read"
        is_read = self.second.kind == "load"
        return "race-read-after-write" if is_read else "race-write-after-write"

    @property
    def kinds(self) -> set[str]:
        """Those of the two accesses."""
        return {self.first.kind, self.second.kind}

    @property
    def lines(self) -> tuple[int, int]:
        """Those of the two accesses."""
        return self.first.line, self.second.line

    @property
    def between_blocks(self) -> bool:
        """Do two blocks race, which nothing but a barrier of the grid orders?"""
        return self.allocation.space == "global" and self.first.block != self.second.block


class RaceDetector(Observer):
    """Collects the accesses of the blocks that run side by side and checks them at their barriers.

    Of global arrays only those that the kernel writes, told by id, need a record. `report` is told
    of every race when the blocks have ended.
    """

    spaces = ("global", "shared")

    def __init__(self, written_globals: set[int], report: Callable[[Race], None]) -> None:
        self._written_globals = written_globals
        self._tell = report

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space
        self._by_lines: dict[tuple[str, str, int, int], Race] = {}
        self._entries: list[CollectedAccess] = []
        self._known: set[tuple[Any, ...]] = set()
        self._lanes = 0
        self._clean: set[tuple[Any, ...]] = set()
        self._guilty: set[tuple[Any, ...]] = set()
        self._warp_syncs: np.ndarray | None = None
        self._folded: TouchTables | None = None
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
        pattern = pattern_of(access)
        mark = (*pattern, id(self._warp_syncs))
        if mark in self._known:
            return
        self._known.add(mark)
        self._entries.append(CollectedAccess(access, self._warp_syncs, pattern))
        self._lanes += np.size(access.cell) * access.elements
        if self._lanes > MAX_COLLECTED_LANES:
            self._fold()

    def _fold(self) -> None:
        """Keep only the lowest and the highest thread for each cell of the accesses so far."""
        entries, self._entries, self._lanes = self._entries, [], 0
        self._folded = self._folded or TouchTables()
        # What syncwarp orders cannot be folded; it is judged now.
        self._judge([entry for entry in entries if entry.warp_syncs is not None])
        for entry in entries:
            access = entry.access
            if entry.warp_syncs is None:
                cells, threads = cells_and_threads(access, self.space)
                self._folded.of(access).add(access, cells, threads)

    def _judge_folded(self, folded: TouchTables) -> None:
        for first, second, place, one, other, updates in folded.conflicts():
            shared = first.allocation.space == "shared"
            cell = place // self.space.block_count if shared else place
            self._keep(replace(self._race(first, second, cell, one, other), updates=updates))

    def _keep(self, race: Race) -> None:
        """Keep one race for each pair of lines: between two warps, if there is one, and after the
        wait for a copy.
        """
        array = race.allocation.name
        lines = (race.code, array, *race.lines)
        known = self._by_lines.get(lines)
        clearer = known is not None and (known.same_warp, not known.waited_at) > (
            race.same_warp,
            not race.waited_at,
        )
        of_array = sum(other.allocation.name == array for other in self._by_lines.values())
        if clearer or (known is None and of_array < MAX_REPORTED):
            self._by_lines[lines] = race

    def _race(
        self, first: Access | Touched, second: Access | Touched, cell: int, one: int, other: int
    ) -> Race:
        """The race of two lanes, by their numbers, on a cell."""
        size = self.space.block_size
        warps = {(thread // size, thread % size // WARP_SIZE) for thread in (one, other)}
        return Race(
            first.allocation,
            first.allocation.element_name(cell),
            RacingAccess(first.kind, first.line, *self.space.describe(one)),
            RacingAccess(second.kind, second.line, *self.space.describe(other)),
            same_warp=len(warps) == 1,
            waited_at=_waited_at(first, second),
            order=second.order,
        )

    def syncwarp(self, mask: Mask) -> None:
        """The active lanes passed a `syncwarp`: it orders their accesses, and nobody else's.

        Where only some lanes of a warp come to one, as in a branch, these are ahead of the others
        until all meet again.
        """
        rows = self.space.warps_of(mask.full_array, False)
        before = self._warp_syncs
        if before is None:
            before = np.zeros((*rows.shape[:2], 1), np.int64)
        came = rows.any(axis=2, keepdims=True)
        if before.shape[2] == 1 and np.array_equal(rows, came & self.space.warps_of(np.True_)):
            self._warp_syncs = before + came
        else:
            furthest = np.where(rows, before, 0).max(axis=2, keepdims=True)
            self._warp_syncs = np.where(rows, furthest + 1, before)

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

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self._judge_before_a_barrier(None)

    def _judge_before_a_barrier(self, passing: Mask | None) -> None:
        """Judge what the blocks in `passing` (None: all) have done since the barrier before."""
        if self._folded:
            self._fold()
            self._judge_folded(self._folded)
            self._folded = None
        entries, self._entries, self._lanes = self._entries, [], 0
        self._known = set()
        if passing is not None and passing.array is not None:
            entries, waiting = self._split(entries, passing)
            self._entries = waiting
        else:
            self._warp_syncs = None
        self._judge(entries)

    def _split(
        self, entries: list[CollectedAccess], passing: Mask
    ) -> tuple[list[CollectedAccess], list[CollectedAccess]]:
        passed, waiting = [], []
        for entry in entries:
            inside = entry.access.mask.where(passing.full_array)
            outside = entry.access.mask.without(passing)
            if not inside.empty:
                passed.append(of_lanes(entry, inside))
            if not outside.empty:
                waiting.append(of_lanes(entry, outside))
        return passed, waiting

    def _judge(self, entries: list[CollectedAccess]) -> None:
        by_memory: dict[int, list[CollectedAccess]] = {}
        for entry in entries:
            by_memory.setdefault(memory_of(entry.access.allocation), []).append(entry)
        for group in by_memory.values():
            if all(entry.access.kind == "load" for entry in group):
                continue
            # Lines that were found to race once need not be found to race again.
            memory = memory_of(group[0].access.allocation)
            lines = (memory, *dict.fromkeys(_line(e) for e in group))
            if lines in self._guilty:
                continue
            mark = fingerprint_of(group)
            if mark in self._clean:
                continue
            if self._written_cells_have_one_thread(group):
                self._clean.add(mark)
                continue
            if self._judge_group(group):
                self._guilty.add(lines)
            else:
                self._clean.add(mark)

    def _written_cells_have_one_thread(self, group: Sequence[CollectedAccess]) -> bool:
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
        read = [cells_and_threads(entry.access, self.space) for entry in loads]
        written = [cells_and_threads(entry.access, self.space) for entry in writes]
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

    def _judge_group(self, group: list[CollectedAccess]) -> bool:
        """Look for races among accesses to one array; returns whether there was one."""
        group = sorted(group, key=lambda entry: entry.access.order)
        # Accesses that look the same in every block are judged in the first block only.
        alike = all(same_in_all_blocks(entry.access) for entry in group)
        unit = math.gcd(*(size for entry in group for size in sizes_of(entry.access.allocation)))
        lanes = [lanes_of(entry, self.space, alike, unit) for entry in group]
        before = len(self._by_lines)
        synced = any(entry.warp_syncs is not None for entry in group)
        if not synced:
            self._report(group, conflicts(group, lanes, lanes_key="thread", ordered=False), lanes)
        else:
            self._report(group, conflicts(group, lanes, lanes_key="warp", ordered=False), lanes)
            self._report(group, conflicts(group, lanes, lanes_key="thread", ordered=True), lanes)
        return len(self._by_lines) > before

    def _report(
        self, group: list[CollectedAccess], cells: np.ndarray, lanes: list[AccessingLanes]
    ) -> None:
        chosen = np.linspace(0, len(cells) - 1, min(len(cells), MAX_CELLS_EXAMINED)).astype(int)
        for key in cells[chosen]:
            for race in self._pairs(group, key, lanes):
                self._keep(race)

    def _pairs(
        self, group: list[CollectedAccess], key: int, lanes: list[AccessingLanes]
    ) -> Iterable[Race]:
        """The races on one cell: the first conflicting pair of threads for each pair of lines."""
        touched = few_of_each_line(
            (entry.access, place)
            for entry, of_entry in zip(group, lanes, strict=True)
            for place in [np.flatnonzero(of_entry.key == key)]
            if len(place)
        )
        chosen = {id(entry.access): of for entry, of in zip(group, lanes, strict=True)}
        updating = updating_lines(touched, chosen)
        changing = changing_threads(touched, chosen)
        for number, (first, places) in enumerate(touched):
            for second, others in touched[number:]:
                if first.kind == second.kind and first.kind in ("load", "atomic"):
                    continue
                a, b = chosen[id(first)], chosen[id(second)]
                pair = two_threads(a, places, b, others)
                if pair is not None:
                    i, j = pair
                    threads = int(a.thread[i]), int(b.thread[j])
                    race = self._race(first, second, int(a.cell[i]), *threads)
                    updates = first.line == second.line and first.line in updating
                    both = any(
                        all((turn, thread) in changing for thread in threads)
                        for turn, _ in changing
                    )
                    yield replace(race, updates=updates, both_change=both)


def _waited_at(first: Access | Touched, second: Access | Touched) -> int:
    landed = first.landed if isinstance(first, Access) else ()
    return landed[-1] if landed < second.order and landed else 0


def _line(entry: CollectedAccess) -> tuple[str, int]:
    return entry.access.kind, entry.access.line


# --- Races between blocks, which nothing orders ---------------------------------------------------


MAX_WAITING_CELLS = 1 << 15


class BlockRaces(Observer):
    """Finds cells of global memory that two blocks touch in one launch, one of them writing.

    Nothing but a barrier of the grid orders blocks, so their accesses conflict wherever between two
    of them they stand. For each line and kind of access it is kept which blocks touched a cell, the
    lowest and the highest of them; all is judged at such a barrier, and when the launch has ended.

    Args:
        grid: the grid's size, (z, y, x).
        written: the arrays that the kernel writes, by id; others need no record.
    """

    spaces = ("global",)

    def __init__(self, grid: tuple[int, int, int], written: set[int]) -> None:
        self.grid = grid
        self.written = written
        self._before: list[Race] = []  # the last barrier of the grid
        self._touched = TouchTables()
        # Accesses that are not in these tables yet, those that look alike together.
        self._waiting: dict[tuple[Touched, int, Shape, Shape | None], list[Access]] = {}
        self._cells = 0

    def access(self, access: Access) -> None:
        """Take note of an access to a global array that the kernel writes."""
        if id(access.allocation.root) not in self.written:
            return
        alike = (self._touched.of(access), access.elements, *shapes_of(access))
        self._waiting.setdefault(alike, []).append(access)
        self._cells += access.cell.size
        if self._cells > MAX_WAITING_CELLS:
            self._add_waiting()

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        self._add_waiting()
        self._before, self._touched = self.races, TouchTables()

    def end(self) -> None:
        self._add_waiting()

    def _add_waiting(self) -> None:
        """Note who touched the cells of the accesses that are waiting."""
        waiting, self._waiting, self._cells = self._waiting, {}, 0
        for (touched, *_), accesses in waiting.items():
            first = min(accesses, key=lambda access: access.order)
            touched.add(first, *_cells_and_blocks(accesses))

    @property
    def races(self) -> list[Race]:
        """The first conflict of each two lines, in the program's order."""
        found = [
            Race(
                first.allocation,
                first.allocation.element_name(cell),
                RacingAccess(first.kind, first.line, _block_place(one, self.grid)),
                RacingAccess(second.kind, second.line, _block_place(other, self.grid)),
                updates=updates,
                order=second.order,
            )
            for first, second, cell, one, other, updates in self._touched.conflicts()
        ]
        return [*self._before, *found][:MAX_REPORTED]


def _cells_and_blocks(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray]:
    """The cells that accesses of equal shapes touch, each with the number of its block."""
    cells, active = stacked(accesses)
    blocks = accesses[0].mask.space.block_in_grid[None]
    shape = tuple(map(max, cells.shape, blocks.shape, active.shape))
    cells, blocks = spread(cells, shape), spread(blocks, shape)
    if accesses[0].mask.array is not None:
        where = spread(active, shape)
        cells, blocks = cells[where], blocks[where]
    return accesses[0].each_cell(cells.reshape(-1), blocks.reshape(-1).astype(np.int32))


def _block_place(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    z, y, x = (int(i) for i in np.unravel_index(number, grid))
    return x, y, z
