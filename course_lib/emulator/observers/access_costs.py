"""What accesses cost beyond need: scattered, in bank conflict, or made again; and the findings.

A right kernel has no fault to find, and may still be slow. Whatever is reported here was counted,
beside the best count possible for the same accesses. Where only the data decide (a gather, a
histogram's bin) no better order is known, and nothing is said.
"""

import ast
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_SHARED_BYTES, LaunchShape
from course_lib.emulator.language.kernel import holds
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.findings import finding_of
from course_lib.emulator.observers.meter import AccessCounts, AccessPlace, Meter, over_same_blocks
from course_lib.emulator.observers.values_in_text import (
    all_decided_by_data,
    is_by_data,
    is_moved_out,
    same_sums,
)
from course_lib.emulator.profile.request_costs import SECTOR_BYTES
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace
from course_lib.emulator.state.memory import Access, Memory
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say
from course_lib.wording.words import counted

SCATTERED = 1.5  # times the sectors that would do, beside one for a row that starts in mid-sector
REPEATED = 8.0  # times that a block fetches a sector: what neighbouring lines share is far below
TURNS = 2  # loads of an array by each thread, from which a shared array can save some
ALIKE = 2  # times what the first block loads, up to which the average block is like it
SHARE = 0.1  # of all sectors, wavefronts or lanes of the launch, from which a line is worth a word
FEW = 64  # sectors, wavefronts or updates: below, a launch is too small to say anything
SMALL_ARRAY = 1024  # bytes that stay in any cache, however often they are read
NEAR = 3  # lines between accesses that may use each other's sectors
WORD = 4  # bytes of a record, such as a pixel's channels, that a thread may visit one by one
KEPT = 8  # elements that a thread may well hold in registers meanwhile
SPARSE = 0.1  # of an array's elements: where a launch touches fewer, they may well lie apart
SPARSE_COLUMNS = 0.3  # the same, where they are so many bytes apart that it may be a column
ROW_BYTES = 64
FILLED = 0.75  # of the bytes of the sectors that a launch touches
RANDOM = 6.0  # wavefronts that 32 lanes may take where nobody chose their banks (3.5 on average)


@dataclass
class Fetched:
    """What the first block loads of one array."""

    by: np.ndarray  # the thread that loads each element first, or -1, and `line` where it does
    line: np.ndarray
    again: np.ndarray  # how often that thread loads it once more in that line
    others: np.ndarray  # whether another thread loads it, too
    stored_by: np.ndarray  # the thread that has stored each element last, or -1
    # whether another thread has loaded what that one had stored, the first time in the line
    # `handed_at`
    handed: np.ndarray
    elsewhere: np.ndarray  # whether another block loads it, or changes it by an atomic operation
    by_others: int = 0  # loads of an element by a thread that is not the one in `by`
    loads: int = 0  # all of them, an element and a thread at a time
    handed_at: int = 0


class CostNotes(Observer):
    """Notes what the counters leave out: what one block fetches, and how its lanes lie in memory.

    `written` are the global arrays that the kernel writes, by id.
    """

    def __init__(self, written: Collection[int]) -> None:
        self.written = written
        self.fetched: dict[tuple[str, str], Fetched] = {}  # by array, and field of records
        self.strides: dict[tuple[int, str, str], int] = {}
        self._has_first_block = True

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._has_first_block = not any(space.first_block)

    def access(self, access: Access) -> None:
        allocation = access.allocation
        if access.mask.empty or allocation.space == "local":
            return
        if allocation.space == "global" and access.kind != "store":
            if id(allocation.root) in self.written:
                self._note_elsewhere(access)
        if access.kind == "atomic":
            return
        site = (access.line, access.kind, access.array)
        if site not in self.strides:
            apart = allocation.spacing // allocation.dtype.itemsize  # more than 1 in records
            self.strides[site] = _stride(*_of_first_block(access)) * apart
        if self._has_first_block and allocation.space == "global":
            self._fetch(access)

    def _of(self, access: Access) -> Fetched:
        within = access.allocation.within
        key = access.array, within[1] if within else ""
        if key not in self.fetched:
            size = access.allocation.cells
            nobody, zeros = np.full(size, -1, np.int32), np.zeros(size, np.int32)
            others, handed, elsewhere = (np.zeros(size, bool) for _ in range(3))
            self.fetched[key] = Fetched(
                nobody, zeros, zeros.copy(), others, nobody.copy(), handed, elsewhere
            )
        return self.fetched[key]

    def _note_elsewhere(self, access: Access) -> None:
        """Note what the blocks behind the first one load, or change by atomic operations."""
        space = access.mask.space
        cells, active = over_same_blocks(access.cell, access.mask)
        cells, active = space.warps_of(cells), space.warps_of(active, False)
        if self._has_first_block and space.block_count == 1:
            return
        if self._has_first_block and len(cells) > 1:  # else all blocks do the same
            cells, active = cells[1:], active[1:]
        elsewhere = self._of(access).elsewhere
        for element in range(access.elements):
            elsewhere[cells[active] + element] = True

    def _fetch(self, access: Access) -> None:
        cells, active = _of_first_block(access)
        fetched = self._of(access)
        threads = np.flatnonzero(active)
        for element in range(access.elements):
            chosen = cells.reshape(-1)[threads] + element
            if access.kind == "store":
                fetched.stored_by[chosen] = threads
                continue
            fetched.loads += len(chosen)
            by = fetched.stored_by[chosen]
            handed = chosen[(by >= 0) & (by != threads)]
            fetched.handed[handed] = True
            if handed.size and not fetched.handed_at:
                fetched.handed_at = access.line
            same = (fetched.by[chosen] == threads) & (fetched.line[chosen] == access.line)
            fetched.again[chosen[same]] += 1
            fresh = fetched.by[chosen] < 0
            fetched.by[chosen[fresh]] = threads[fresh]
            fetched.line[chosen[fresh]] = access.line
            others = fetched.by[chosen] != threads
            fetched.others[chosen[others]] = True
            fetched.by_others += int(np.count_nonzero(others))


def _of_first_block(access: Access) -> tuple[np.ndarray, np.ndarray]:
    """The cell of each lane of the first block, and whether it takes part; shape (warps, 32)."""
    space = access.mask.space
    cells, active = over_same_blocks(access.cell, access.mask)
    return space.warps_of(cells)[0], space.warps_of(active, False)[0]


def _stride(cells: np.ndarray, active: np.ndarray) -> int:
    """How many elements apart the cells of neighbouring lanes are; 0 if there is no rule.

    Lanes that take no part count as well: where every other lane stores to its own cell, it is 1.
    """
    warp, lane = np.nonzero(active)
    together = np.diff(warp) == 0
    lanes, steps = np.diff(lane)[together], np.diff(cells[warp, lane])[together]
    if not len(steps):
        return 0
    usual = int(np.median(steps // lanes))
    return usual if (steps == usual * lanes).mean() > 0.5 else 0


# --- The findings ---------------------------------------------------------------------------------


class LaunchCosts:
    """What one launch cost beyond its need, line by line.

    `orders_blocks` says whether barriers of the grid, or atomic operations, order blocks.
    """

    def __init__(
        self,
        meter: Meter,
        notes: CostNotes,
        typings: Sequence[Typing],
        shape: LaunchShape,
        orders_blocks: bool,
    ) -> None:
        self.meter, self.notes, self.blocks = meter, notes, math.prod(shape.grid)
        self.threads = math.prod(shape.block)
        self.orders_blocks = orders_blocks
        self.same_sums = {sums for typing in typings for sums in same_sums(typing)}
        flows = all_decided_by_data(typings)
        self.flows = [(typing.kernel.tree, names) for typing, names in flows.items()]
        self.typings = typings

    def findings(self) -> Iterator[Finding]:
        """All that is worth a word, as warnings."""
        yield from self._scattered()
        yield from self._conflicts()
        added = [*self._added_again()]
        yield from added
        yield from self._fetched_again({found.line for found in added})
        yield from self._read_again()
        if not self.orders_blocks:  # else others may well have to see what one block stores
            yield from self._handed_on()
        yield from self._float64_inputs()

    def _scattered(self) -> Iterator[Finding]:
        """Loads and stores whose lanes touch more sectors than their data would fill."""
        sites = [(at, site) for at, site in self.meter.sites.items() if at.space == "global"]
        total = sum(site.sectors for _, site in sites)
        for at, site in sites:
            # Accesses that use each other's sectors, as the fields of a pixel, count as one.
            beside = [
                other.least
                for place, other in sites
                if (place.array, place.kind) == (at.array, at.kind)
                and other.requests == site.requests
                and abs(place.line - at.line) <= NEAR
            ]
            excess = site.sectors - site.least
            if (
                site.sectors > SCATTERED * sum(beside) + site.requests
                and excess >= max(FEW, SHARE * total)
                and not self._is_in_step(at)
                and not self._lies_apart(at, sites)
                and not self._by_data(at.line, at.array)
            ):
                yield self._scattered_finding(at, site)

    def _is_in_step(self, at: AccessPlace) -> bool:
        """Are neighbouring lanes side by side, or one record apart, with all its fields used?"""
        stride = abs(self.notes.strides.get((at.line, at.kind, at.array), 0))
        if stride == 1:
            return True
        touched = self.meter.touched[at.array]
        elements = np.flatnonzero(touched.loaded if at.kind == "load" else touched.stored)
        size = self.meter.arrays[at.array].dtype.itemsize
        sectors = len(np.unique(elements * size // SECTOR_BYTES))
        return (
            1 < stride <= WORD // size and len(elements) * size >= FILLED * sectors * SECTOR_BYTES
        )

    def _lies_apart(
        self, at: AccessPlace, sites: Sequence[tuple[AccessPlace, AccessCounts]]
    ) -> bool:
        """Are the elements that a launch touches so far apart that no order of threads helps?"""
        touched = self.meter.touched[at.array]
        marks = touched.loaded if at.kind == "load" else touched.stored
        elements, size = np.flatnonzero(marks), self.meter.arrays[at.array].dtype.itemsize
        needed = len(np.unique(elements * size // SECTOR_BYTES))
        same = (site for place, site in sites if (place.array, place.kind) == (at.array, at.kind))
        asked = sum(site.sectors for site in same)
        stride = abs(self.notes.strides.get((at.line, at.kind, at.array), 0))
        share = SPARSE_COLUMNS if stride * size >= ROW_BYTES else SPARSE
        return len(elements) < share * marks.size and asked <= SCATTERED * needed

    def _scattered_finding(self, at: AccessPlace, site: AccessCounts) -> Finding:
        stride = abs(self.notes.strides.get((at.line, at.kind, at.array), 0))
        apart = say("neighbouring lanes are {stride} elements apart", stride=stride)
        load = at.kind == "load"
        return finding_of(
            "uncoalesced-load" if load else "uncoalesced-store",
            "{verb} {array} take {sectors} sectors per request, but {least} would hold everything "
            "that the lanes ask for: {why}.",
            at.line,
            "Which index does threadIdx.x change? Is it the last one?",
            verb="Loads from" if load else "Stores to",
            array=at.array,
            sectors=f"{site.sectors / site.requests:.3g}",
            least=f"{site.least / site.requests:.3g}",
            why=apart if stride > 1 else "neighbouring lanes ask for elements that are far apart",
        )

    def _conflicts(self) -> Iterator[Finding]:
        """Accesses to shared memory that need more wavefronts than their width requires."""
        sites = [(at, site) for at, site in self.meter.sites.items() if at.space == "shared"]
        total = sum(site.wavefronts for _, site in sites)
        for at, site in sites:
            if site.bank_conflicts < max(FEW, SHARE * total, site.requests / 2):
                continue
            if self._by_data(at.line, at.array) and site.wavefronts < RANDOM * site.requests:
                continue
            yield finding_of(
                "bank-conflict",
                "{verb} {array} take {wavefronts} wavefronts per request, but {least} would be "
                "enough. Lanes of a warp need different words from the same bank.",
                at.line,
                "How many words apart are the addresses of neighbouring lanes? What is that "
                "modulo 32?",
                array=at.array,
                verb="Reads of" if at.kind == "load" else "Writes to",
                wavefronts=f"{site.wavefronts / site.requests:.3g}",
                least=f"{(site.wavefronts - site.bank_conflicts) / site.requests:.3g}",
            )

    def _added_again(self) -> Iterator[Finding]:
        """Sums that every thread computes, each the same."""
        for at, site in self.meter.sites.items():
            warps = self.blocks * -(-self.threads // WARP_SIZE)
            full = site.elements >= self.threads * self.blocks * site.requests / warps / 2
            if (at.array, at.line) not in self.same_sums or at.kind != "load" or not full:
                continue
            if self.threads < WARP_SIZE or site.requests < WARP_SIZE * warps:
                continue
            yield finding_of(
                "excess-global-traffic",
                "All {threads} threads add up the same {elements} of {array}, and all get the "
                "same sum.",
                at.line,
                "Could each thread add up a part of these elements? How would all threads then "
                "get the sum?",
                threads=f"{self.threads * self.blocks:,}",
                elements=counted(site.requests // warps, "element"),
                array=at.array,
            )

    def _fetched_again(self, told: Collection[int | None]) -> Iterator[Finding]:
        """Arrays that every block loads many times over, in lines without a finding so far."""
        total = sum(traffic.load_sectors for traffic in self.meter.arrays.values())
        for array, traffic in self.meter.arrays.items():
            fetched = self.notes.fetched.get((array, ""))
            if fetched is None or fetched.by.size * traffic.dtype.itemsize <= SMALL_ARRAY:
                continue
            # What each thread loads once is no less with a shared array; and a first block that
            # loads little, as at the end of a scan, says nothing of the others.
            most = ALIKE * fetched.loads * self.blocks
            if fetched.loads < TURNS * self.threads or traffic.loaded_elements > most:
                continue
            elements = np.flatnonzero(fetched.by >= 0)
            sectors = len(np.unique(elements * traffic.dtype.itemsize // SECTOR_BYTES))
            needed, excess = sectors * self.blocks, traffic.load_sectors - sectors * self.blocks
            again = fetched.by_others >= (REPEATED - 1) * len(elements)
            if not again or excess < max(FEW, SHARE * total, (REPEATED - 1) * needed):
                continue
            line = max(traffic.loaded_at, key=lambda number: traffic.loaded_at[number])
            if (
                line in told
                or self._by_data(line, array)
                or is_moved_out(line, array, self.typings)
            ):
                continue
            yield finding_of(
                "excess-global-traffic",
                "On average, a block loads {sectors} sectors of {array}, but everything that the "
                "first block needs fits into {needed}. The threads of a block fetch the same "
                "elements again and again.",
                line,
                "Which threads of a block read the same elements? Could the block keep these "
                "elements in shared memory?",
                array=array,
                sectors=traffic.load_sectors // self.blocks,
                needed=sectors,
            )

    def _read_again(self) -> Iterator[Finding]:
        """A thread's own elements that it loads in every turn of a loop."""
        total = sum(traffic.load_sectors for traffic in self.meter.arrays.values())
        for (array, _), fetched in self.notes.fetched.items():
            own = np.flatnonzero((fetched.again >= REPEATED - 1) & ~fetched.others)
            if not len(own) or np.bincount(fetched.by[own]).max() > KEPT:
                continue
            traffic = self.meter.arrays[array]
            most = int(np.bincount(fetched.line[own]).argmax())
            line = next((known for known in traffic.loaded_at if known == most), most)
            if is_moved_out(line, array, self.typings):
                continue
            again = int(fetched.again[own].sum())
            loads = int(np.count_nonzero(fetched.by >= 0) + fetched.again.sum()) + fetched.by_others
            if again * traffic.load_sectors < loads * max(FEW, SHARE * total):
                continue
            words: dict[str, Any] = {
                "elements": counted(len(own) // len(np.unique(fetched.by[own])), "element"),
                "array": array,
                "times": round(1 + again / len(own)),
            }
            loads_again = say(
                "Each thread loads the same {elements} of {array} {times} times. If no other "
                "thread changes them, a register could hold them.",
                **words,
            )
            if np.ptp(fetched.again[own]):
                loads_again = say(
                    "A thread loads the same {elements} of {array} {times} times on average. If no "
                    "other thread changes them, a register could hold them.",
                    **words,
                )
            yield finding(
                "excess-global-traffic",
                loads_again,
                line,
                "Which local variable could hold the value until the loop is done?",
            )

    def _handed_on(self) -> Iterator[Finding]:
        """Arrays through which the threads of a block pass values that shared memory could hold."""
        total = sum(traffic.load_sectors for traffic in self.meter.arrays.values())
        for (array, _), fetched in self.notes.fetched.items():
            traffic, count = self.meter.arrays[array], int(np.count_nonzero(fetched.handed))
            if np.any(fetched.elsewhere & (fetched.stored_by >= 0)):
                continue  # others need it, at least in part
            fits = fetched.by.size * traffic.dtype.itemsize <= self.blocks * MAX_SHARED_BYTES
            if not traffic.loaded_at or count * traffic.dtype.itemsize > MAX_SHARED_BYTES:
                continue
            loaded = max(int(np.count_nonzero(fetched.by >= 0)), 1)
            if not fits or count * traffic.load_sectors < loaded * max(FEW, SHARE * total):
                continue
            yield finding_of(
                "excess-global-traffic",
                "The threads of a block pass {elements} to each other through {array}. That is "
                "global memory, but no other block needs these values.",
                fetched.handed_at,
                "What would have to change so that shared memory holds these values instead?",
                elements=counted(count, "element"),
                array=array,
            )

    def _float64_inputs(self) -> Iterator[Finding]:
        """Arrays of float64 whose every result is stored in arrays of float32."""
        arrays, touched = self.meter.arrays, self.meter.touched
        written = {
            name for name in arrays if touched[name].stored.any() or touched[name].updated.any()
        }
        kinds = {str(arrays[name].dtype) for name in written if arrays[name].dtype.kind == "f"}
        inputs = {name: str(arrays[name].dtype) for name in arrays.keys() - written}
        if kinds != {"float32"} or "float32" not in inputs.values():
            return
        for name, kind in inputs.items():
            loads = arrays[name].loaded_at.keys()
            lines = self.meter.float64_lines & loads or set(loads)
            if kind != "float64" or not lines or not self.meter.float64_lines:
                continue
            yield finding_of(
                "float64-arithmetic",
                "{array} holds float64, but the results are stored as float32. So the array "
                "takes twice the bytes, and everything computed with it is computed in float64.",
                min(lines),
                "Which dtype did the array get when it was created, and which dtype would be "
                "enough?",
                array=name,
            )

    def _by_data(self, line: int, array: str) -> bool:
        """Do loaded data decide which element of an array a line accesses?"""
        for tree, names in self.flows:
            if not holds(tree, line):
                continue
            found = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Subscript) and holds(node, line)
            ]
            named = [node for node in found if ast.unparse(node.value) == array]
            return any(
                is_by_data(node.slice, names)
                or (isinstance(node.value, ast.Name) and node.value.id in names)
                for node in named or found
            )
        return True
