"""Faults around Hopper's copies (TMA) and products (wgmma), whatever the order they run in.

Races are for `ordered_races.py`. These are faults in any order: bytes that no barrier was told to
expect, writes that a copy or a product need not see, sums that are touched too early.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.machine.events import EngineAccess
from course_lib.emulator.observers.findings import FaultObserver, Place, finding_of
from course_lib.emulator.state.hopper import Key, Onlooker, Phases, base_of
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, Value
from course_lib.emulator.state.memory import Access, Allocation, ArrayView, Memory
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import Line, say

if TYPE_CHECKING:
    from course_lib.emulator.budget import Awaited

UNIT = 4  # bytes of shared memory that are told apart
# Of a block, at most, and of a thread; they are dealt out in steps (setmaxnreg, PTX ISA).
REGISTERS, MOST_REGISTERS, STEP = 65_536, 256, 8
WHOLE_GROUP = (
    "Which threads get here? A warpgroup needs 128 consecutive threads, starting at a multiple of "
    "128."
)


class EngineFaults(FaultObserver):
    """Makes a finding of each."""

    spaces = ("shared",)

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        super().begin(space, memory)
        self._memory = memory
        # Of each block's shared memory: who wrote there since its last fence (0: nobody), where.
        self._writers: dict[tuple[int, int], np.ndarray] = {}
        self._lines: dict[tuple[int, int], np.ndarray] = {}
        self._products: Counter[tuple[int, int]] = Counter()  # of each warp and line
        # Of each lane, by its arrays: the agent at work on it, and the line where that was started.
        self._held: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        # How many registers a thread has in each warp that has asked for a number, and where.
        self._registers: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)

    # -- writes that an agent need not see ----------------------------------------------------

    def landed(self, access: Access) -> None:
        self.access(access)

    def access(self, access: Access) -> None:
        """Note what threads write to shared memory."""
        if access.kind not in ("store", "atomic", "copy") or access.mask.empty:
            return
        cells, lanes = access.touched
        size, spacing = access.allocation.dtype.itemsize, access.allocation.spacing
        for part in range(0, size, UNIT):
            units = (cells * spacing + part) // UNIT
            for block in np.unique(lanes // self.space.block_size).tolist():
                own = lanes // self.space.block_size == block
                writers, lines = self._of(access.allocation, block)
                writers[units[own]], lines[units[own]] = lanes[own] + 1, access.line

    def _of(self, allocation: Allocation, block: int) -> tuple[np.ndarray, np.ndarray]:
        key = base_of(self._memory, allocation), block
        if key not in self._writers:
            units = -(-allocation.cells * allocation.dtype.itemsize // UNIT)
            self._writers[key] = np.zeros(units, np.int64)
            self._lines[key] = np.zeros(units, np.int32)
        return self._writers[key], self._lines[key]

    def fence_async(self, mask: Mask) -> None:
        """What these lanes have written can be seen."""
        fenced = np.zeros(self.space.size + 1, bool)
        fenced[1:] = mask.full_array.reshape(-1)
        for writers in self._writers.values():
            writers[fenced[writers]] = 0

    def by_agent(self, access: EngineAccess) -> None:
        """A copy or a product reads shared memory: has all that was written there been let go?"""
        if access.agent >= 0 or access.allocation.space != "shared" or access.kind != "load":
            return
        writers, lines = self._of(access.allocation, access.block)
        units = access.starts[:, None] // UNIT + np.arange(access.width // UNIT)
        units = units.reshape(-1)
        unseen = units[writers[units] > 0]
        if not len(unseen):
            return
        place = int(unseen[0])
        name = access.allocation.element_name(place * UNIT // access.allocation.spacing)
        self.tell(
            int(writers[place]) - 1,
            "race-read-after-write",
            "The operation started at {line} reads {name}, which {who} wrote at {other_line}. "
            "Unless that thread calls fence_async() in between, the operation may not see what "
            "was written.",
            access.line,
            "Which threads wrote to this memory, and which function do they call before the "
            "barrier?",
            at=name,
            elsewhere=int(lines[place]),
            line=Line(access.line),
            name=name,
        )

    # -- registers that belong to a product----------------------------------------------------

    def computes(
        self, agent: int, arrays: Sequence[Allocation], lanes: Sequence[int], line: int
    ) -> None:
        for array in arrays:
            for lane in lanes:
                self._held[lane][id(array)] = agent, line
        block, thread = divmod(lanes[0], self.space.block_size)
        self._products[block * self.space.warps_per_block + thread // WARP_SIZE, line] += 1

    def waited_for(self, agent: int, lanes: Sequence[int]) -> None:
        for lane in lanes:
            held = self._held[lane]
            for array in [array for array, (by, _) in held.items() if by == agent]:
                del held[array]

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        """A thread touches a local array while a product is at work on it."""
        if view.allocation.space != "local" or not self._held or mask.empty:
            return
        lane = int(np.flatnonzero(mask.full_array)[0])
        under_way = self._held[lane].get(id(view.allocation))
        if under_way is None:
            return
        self.tell(
            lane,
            "race-read-after-write",
            "{who} accesses {name} at {line} while the product started at {other_line} is still "
            "using it.",
            line,
            "How does a thread learn that a product is done?",
            at=view.name,
            elsewhere=under_way[1],
            name=view.name,
            line=Line(line),
        )

    # -- products that not all warps of a group start -----------------------------------------

    def end(self) -> None:
        self._tell_warps_that_leave()
        self._tell_too_many_registers()

    def _tell_warps_that_leave(self) -> None:
        """Which warps of each group have started how many products of a line?"""
        by_group: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for (warp, line), count in self._products.items():
            block, number = divmod(warp, self.space.warps_per_block)
            group = block * self.space.warps_per_block + number // 4 * 4
            by_group[group, line][warp - group] = count
        for (group, line), counts in by_group.items():
            fewest = min(range(4), key=lambda warp: counts[warp])
            most = max(counts.values())
            if counts[fewest] < most:
                self.tell(
                    self._first_lane(group),
                    "barrier-divergence",
                    "In the warpgroup whose first thread is {who}, warp {warp} starts only {few} "
                    "of the {most} products in {line}, but all four warps have to take part.",
                    line,
                    WHOLE_GROUP,
                    warp=fewest,
                    few=counts[fewest],
                    most=most,
                    line=Line(line),
                )

    def _first_lane(self, warp: int) -> int:
        block, number = divmod(warp, self.space.warps_per_block)
        return block * self.space.block_size + number * WARP_SIZE

    # -- registers that warps take over from others -------------------------------------------

    def registers(
        self, lanes: np.ndarray, count: int, change: Callable[[int, int], int], line: int
    ) -> None:
        """Note how many each warp has now."""
        blocks, threads = np.divmod(lanes, self.space.block_size)
        for block, warp in set(zip(blocks.tolist(), (threads // WARP_SIZE).tolist(), strict=True)):
            before, _ = self._registers[block].get(warp, (self._at_launch, line))
            self._registers[block][warp] = change(before, count), line

    @property
    def _at_launch(self) -> int:
        """Registers of a thread then, at most."""
        own = REGISTERS // self.space.block_size // STEP * STEP
        return min(own, MOST_REGISTERS)

    def _tell_too_many_registers(self) -> None:
        """Does any block have more than it had at the launch?"""
        room = self._at_launch * self.space.block_size
        for block, warps in self._registers.items():
            self._tell_groups_that_part(block, warps)
            others = self.space.warps_per_block - len(warps)
            asked = WARP_SIZE * (
                sum(count for count, _ in warps.values()) + others * self._at_launch
            )
            if asked <= room:
                continue
            count, line = max(warps.values())
            most = next(warp for warp, have in warps.items() if have == (count, line))
            self.tell(
                self._first_lane(block * self.space.warps_per_block + most),
                "barrier-divergence",
                "{who} waits at {line} forever. With {count} registers for each thread there, the "
                "block needs {asked} registers in all, but at the launch it got only {room}, "
                "which is {each} for each thread.",
                line,
                "Which warps give registers back, and how many does each of these warps give back?",
                line=Line(line),
                count=count,
                asked=asked,
                room=room,
                each=self._at_launch,
            )

    def _tell_groups_that_part(self, block: int, warps: dict[int, tuple[int, int]]) -> None:
        """Do all warps of a group have the same number?"""
        for warp, (count, line) in warps.items():
            first = warp // 4 * 4
            group = range(first, min(first + 4, self.space.warps_per_block))
            others = [
                other_warp for other_warp in group if warps.get(other_warp, (0, 0))[0] != count
            ]
            if others:
                self.tell(
                    self._first_lane(block * self.space.warps_per_block + warp),
                    "barrier-divergence",
                    "The warp of {who} asks for {count} registers at {line}, but warp {other} of "
                    "its warpgroup does not. All four warps have to ask for the same number.",
                    line,
                    WHOLE_GROUP,
                    count=count,
                    line=Line(line),
                    other=others[0] - first,
                )

    # -- barriers -----------------------------------------------------------------------------

    def not_fenced(self, lane: int, onlooker: Onlooker, made: int, line: int) -> None:
        said = {
            "copies": say("The copy started at {line} signals a barrier", line=Line(line)),
            "blocks": say("At {line} another block uses a barrier", line=Line(line)),
        }
        self.tell(
            lane,
            "race-read-after-write",
            "{what} that {who} initialized at {other_line}. Without a fence_mbarrier_init() by "
            "that thread, the initialization may not be visible there.",
            line,
            "Which function does the thread that initializes the barriers call before all threads "
            "synchronize?",
            elsewhere=made,
            what=said[onlooker],
        )

    def never_awaited(self, key: Key, line: int) -> None:
        message = (
            "Threads or copies arrive at the barrier initialized at {line}, but no thread ever "
            "waits there."
        )
        hint = "Which threads rely on the work done before the arrival?"
        self.note(finding_of("barrier-divergence", message, line, hint, line=Line(line)))

    def too_many_bytes(self, line: int, copied: int) -> None:
        message = (
            "At {line}, fewer bytes are announced than the copies bring, so a GPU goes on before "
            "the copy started at {other_line} has arrived."
        )
        hint = "How many bytes does a box have? How many boxes arrive in one phase?"
        found = finding_of("barrier-divergence", message, line, hint, None, copied, line=Line(line))
        self.note(found)

    def runs_ahead(self, line: int, made: int, expected: int) -> None:
        message = (
            "At {line}, too many threads arrive at the barrier initialized at {other_line}: "
            "{expected} arrivals complete a phase, and a second one is complete before any thread "
            "has waited for the first."
        )
        hint = "How many threads reach this line in one lap of the ring?"
        facts = {"line": Line(line), "expected": expected}
        self.note(finding_of("barrier-divergence", message, line, hint, None, made, **facts))

    def no_barrier(self, lane: int, address: int, line: int) -> None:
        self.tell(
            lane,
            "uninitialised-read",
            "{who} uses a barrier at the address {address}, where none has been initialized.",
            line,
            "Where does the kernel call mbarrier_init for it? Does every thread wait until "
            "that is done?",
            address=address,
        )


def waits_in_vain(who: str, thread: Place, awaited: Awaited) -> Finding:
    """A barrier whose phase does not complete, though nothing more happens."""
    barrier: Phases = awaited.barrier
    if awaited.is_product:
        message = say(
            "{who} waits at {line} forever: of the {all} warps of its group, {count} have not "
            "started the product in {made}.",
            who=who,
            line=Line(awaited.line),
            all=barrier.expected,
            count=barrier.missing,
            made=Line(barrier.line),
        )
        hint = "Which threads reach that line?"
        return finding("barrier-divergence", message, awaited.line, hint, threads=(thread,))
    lacking = []
    if barrier.missing > 0:
        lacking.append(
            say("{count} of {all} arrivals", count=barrier.missing, all=barrier.expected)
        )
    if barrier.bytes > 0:
        lacking.append(say("{count} bytes", count=barrier.bytes))
    state = say("lacks {what}", what=" and ".join(map(str, lacking)))
    if not lacking:
        state = say("has {count} bytes more than were announced", count=-barrier.bytes)
    if barrier.missing < 0:
        came = barrier.expected - barrier.missing
        state = say("had {came} arrivals, but {all} complete it", came=came, all=barrier.expected)
    some_came = barrier.arrived_in and 0 < barrier.missing < barrier.expected
    message = say(
        "{who} waits at {line} forever: phase {phase} of the barrier initialized at {made} "
        "{state}.",
        who=who,
        line=Line(awaited.line),
        phase=barrier.phase,
        made=Line(barrier.line),
        state=state,
    )
    if some_came:
        arrived = Line(barrier.arrived_in)
        message = say("{seen} Threads arrive there at {arrived}.", seen=message, arrived=arrived)
    hint = "Which threads arrive there, and how often? For which phase does this thread wait?"
    other = barrier.arrived_in if some_came else None
    return finding(
        "barrier-divergence", message, awaited.line, hint, other_line=other, threads=(thread,)
    )
