"""Find in filmed runs which reads went wrong because a barrier was missing, and why."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.emulator.film import Arrival, Film, MemoryOperation, Passing
from course_lib.wording.findings import Finding

Kind = Literal["load", "multiply", "use", "store"]
Place = tuple[str, tuple[int, ...]]  # a shared array and a cell of it


@dataclass(frozen=True)
class Write:
    """Who put a value into a shared cell: the thread's lane, the line, the beat."""

    lane: int
    line: int
    beat: int


@dataclass(frozen=True)
class Read:
    """One lane's read of a shared cell, after so many writes to that cell."""

    place: Place
    line: int
    value: float
    beat: int
    writes: int


@dataclass(frozen=True)
class WrongRead:
    """A read that got another value than in the run in which everything was in order."""

    lane: int  # who read
    read: Read  # what it read
    should: float  # the value that belongs there
    # whether a write is still to come that should have been there; else one came too early
    late: bool
    culprit: Write | None  # that write; None if the value itself was wrong already

    @property
    def warps(self) -> tuple[int, int]:
        """Of the reader, and of who is to blame."""
        other = self.lane if self.culprit is None else self.culprit.lane
        return self.lane // WARP_SIZE, other // WARP_SIZE

    @property
    def is_between_warps(self) -> bool:
        return self.warps[0] != self.warps[1]


@dataclass(eq=False)
class Beat:
    """A stretch in which some warps do one thing: load, multiply (or use) or store."""

    kind: Kind
    warps: frozenset[int]
    lines: set[int] = field(default_factory=set)
    wrong: list[WrongRead] = field(default_factory=list)


@dataclass(frozen=True)
class Wait:
    """A warp stands at a barrier from the end of one beat until the barrier opens."""

    warp: int
    line: int
    after: int  # beats that had begun when it arrived
    until: int  # beats that had begun when the barrier opened


@dataclass(eq=False)
class Showing:
    """One run, told by beats."""

    output: str  # the kernel's name for what it writes
    reading: Kind  # what a kernel does with what it reads from shared memory
    wrong: np.ndarray  # where C is not A @ B in the end
    nan: int  # how many of these are NaN
    findings: list[Finding]  # the races that the emulator reports
    beats: list[Beat] = field(default_factory=list)  # what happened, in the order of time
    waits: list[Wait] = field(default_factory=list)  # who stood at which barrier, and how long
    # for each barrier how many beats had begun when it opened, and its line
    openings: list[tuple[int, int]] = field(default_factory=list)
    # each lane's reads of shared memory, in its own order
    reads: dict[int, list[Read]] = field(default_factory=dict)
    # who wrote each cell of it, in the order of time
    writes: dict[Place, list[Write]] = field(default_factory=dict)
    _arrived: dict[int, tuple[int, int]] = field(default_factory=dict)
    _passed: dict[int, int] = field(default_factory=dict)

    def touch(self, touch: MemoryOperation) -> None:
        kind = _kind(touch, self.output, self.reading)
        if kind is None or not touch.lanes.size:
            return
        warps = frozenset(int(lane) // WARP_SIZE for lane in touch.lanes)
        if not self.beats or (self.beats[-1].kind, self.beats[-1].warps) != (kind, warps):
            self.beats.append(Beat(kind, warps))
        self.beats[-1].lines.add(touch.line)
        if touch.space == "shared":
            self._note(touch)

    def _note(self, touch: MemoryOperation) -> None:
        beat = len(self.beats) - 1
        for lane, index, value in zip(touch.lanes, touch.indices, touch.values, strict=True):
            place = (touch.array, tuple(int(i) for i in index))
            if touch.kind == "load":
                past = len(self.writes.get(place, ()))
                read = Read(place, touch.line, float(value), beat, past)
                self.reads.setdefault(int(lane), []).append(read)
            else:
                self.writes.setdefault(place, []).append(Write(int(lane), touch.line, beat))

    def arrive(self, arrival: Arrival) -> None:
        for warp in _warps(arrival.lanes):
            self._arrived[warp] = (len(self.beats), arrival.line)

    def go_on(self, passing: Passing) -> None:
        """The first warp that passes its n-th barrier shows when that barrier opened."""
        for warp in _warps(passing.lanes):
            number = self._passed.get(warp, 0)
            self._passed[warp] = number + 1
            if number == len(self.openings):
                self.openings.append((len(self.beats), passing.line))
            since, line = self._arrived.pop(warp)
            self.waits.append(Wait(warp, line, since, self.openings[number][0]))


def showing(
    run: Film, output: str, c: np.ndarray, product: np.ndarray, reading: Kind = "multiply"
) -> Showing:
    """The beats of a film of one block, after which C is c and should be the product."""
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(c, product)
    races = [error for error in run.profile.errors if error.code.startswith("race-")]
    told = Showing(output, reading, wrong, int(np.isnan(c).sum()), races)
    for moment in run.moments:
        if isinstance(moment, MemoryOperation):
            told.touch(moment)
        elif isinstance(moment, Arrival):
            told.arrive(moment)
        elif isinstance(moment, Passing):
            told.go_on(moment)
    return told


def _warps(lanes: np.ndarray) -> list[int]:
    return sorted({int(lane) // WARP_SIZE for lane in lanes})


def _kind(touch: MemoryOperation, output: str, reading: Kind) -> Kind | None:
    if touch.space == "shared":
        return reading if touch.kind == "load" else "load"
    if touch.array == output and touch.kind != "load":
        return "store"
    return "load" if touch.space == "global" and touch.kind == "load" else None


def find_wrong_reads(shown: Showing, in_order: Showing) -> None:
    """Note in each beat the reads that got another value than in the run that was in order."""
    for lane, reads in shown.reads.items():
        for read, right in zip(reads, in_order.reads.get(lane, []), strict=False):
            same = read.value == right.value or (np.isnan(read.value) and np.isnan(right.value))
            if not same:
                late = read.writes < right.writes
                culprit = _culprit(shown.writes.get(read.place, []), read.writes, right.writes)
                wrong = WrongRead(lane, read, right.value, late, culprit)
                shown.beats[read.beat].wrong.append(wrong)
    for beat in shown.beats:
        beat.wrong.sort(key=lambda read: not read.is_between_warps)


def _culprit(writes: list[Write], seen: int, meant: int) -> Write | None:
    """Of the writes to a cell the one that was missing, or that was there too early."""
    if seen == meant or not writes:
        return None
    return writes[min(max(seen, meant), len(writes)) - 1]


def main_race(findings: list[Finding], block: tuple[int, ...]) -> Finding | None:
    """The race to tell of: one between different warps, if there is one."""
    races = [finding for finding in findings if len(finding.threads) >= 2]

    def warp(thread: tuple[int, ...]) -> int:
        return (thread[0] + block[0] * thread[1]) // WARP_SIZE

    between = [finding for finding in races if warp(finding.threads[0]) != warp(finding.threads[1])]
    return next(iter(between or races), None)
