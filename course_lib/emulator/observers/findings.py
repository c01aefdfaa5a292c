"""Findings of one launch: the names of its threads, wrong indices, float64, steps used up.

First what the other observers build on: names of threads and blocks as a student would write them,
and `NotedFindings`. Then the sentences.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Allocation, Memory
from course_lib.wording.findings import Finding, Severity, finding
from course_lib.wording.sentences import Capital, Index, Line, Sentence, facts_of, say

Place = tuple[int, int, int]


def thread_name(thread: Place, block_size: Place) -> str:
    """A thread of a block."""
    return say("thread {indices}", indices=_indices(thread, block_size))


def block_name(block: Place, grid: Place) -> str:
    """A block of a grid."""
    return say("block {indices}", indices=_indices(block, grid), block_at=block)


def _indices(place: Place, sizes: Place) -> str:
    axes = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
    return str(place[0]) if axes == 1 else "(" + ", ".join(map(str, place[:axes])) + ")"


@dataclass(frozen=True)
class ThreadNames:
    """The names of threads and blocks in one launch; its grid and block are (x, y, z)."""

    grid: Place
    block: Place

    def full(self, block: Place, thread: Place) -> str:
        """A thread, with its block where there are several."""
        name = thread_name(thread, self.block)
        if max(self.grid) == 1:
            return name
        return say("{thread} of {block}", thread=name, block=block_name(block, self.grid))


def finding_of(
    code: str, message: str, line: int, hint: str, severity: Severity | None = None,
    elsewhere: int | None = None, /, **facts: Any,
) -> Finding:  # fmt: skip
    """A finding about a launch as a whole, whose message has these facts; see `tell`."""
    if elsewhere is not None:
        facts["other_line"] = Line(elsewhere)
    return finding(code, say(message, **facts), line, hint, severity, other_line=elsewhere)


class NotedFindings(dict[tuple[Any, ...], Finding]):
    """The findings of one launch, each once per code, severity, lines and array."""

    def note(self, found: Finding) -> None:
        """Keep a finding, unless the same one is there already."""
        self.setdefault((found.code, found.severity, _array(found), *touching(found)), found)


class FaultObserver(Observer):
    """An observer that reports findings about threads; `note` keeps one."""

    space: LaneSpace

    def __init__(self, names: ThreadNames, note: Callable[[Finding], None]) -> None:
        self.names = names
        self.note = note

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.space = space

    def who(self, lane: int) -> tuple[str, Place]:
        """A lane's name and its thread index."""
        block, thread = self.space.describe(lane)
        return self.names.full(block, thread), thread

    def tell(
        self, lane: int, code: str, message: str, line: int, hint: str, /, *others: Place,
        at: str = "", elsewhere: int | None = None, **facts: Any,
    ) -> None:  # fmt: skip
        """Note what a lane did, `who` in the message, with these facts; `others` took part in it.

        `at` is the cell, or whatever else it is about; `elsewhere` another line, `other_line` in
        the message.
        """
        who, thread = self.who(lane)
        told = finding_of(code, message, line, hint, None, elsewhere, who=who, **facts)
        self.note(replace(told, threads=(thread, *others), cell=at))


# --- Wrong indices: outside the array, negative, misaligned ---------------------------------------


def index_finding(
    fault: Fault, allocation: Allocation, kind: str, line: int, who: str, thread: Place
) -> Finding:
    """What is wrong with an index that `who` uses for a "load", a "store" or an "atomic"."""
    last, name = fault.length - 1, allocation.name
    many = len(allocation.shape) > 1
    axis = say(" along axis {axis}", axis=fault.axis) if many else ""
    facts: dict[str, Any] = {"who": who, "number": fault.index, "axis": axis, "array": name}
    if fault.elements:
        code, message, hint = _wide(fault, allocation, kind, who)
    elif fault.kind == "from-end":
        del facts["who"]
        meant = fault.index + fault.length
        message = say(
            "The index {number}{axis} of {array} counts from the end, so this is element {meant}.",
            **facts,
            meant=meant,
        )
        hint = "Is the last element the one that you want?"
        return finding("wrong-index", message, line, hint, severity="warning", cell=name)
    elif fault.kind == "negative":
        message = say(
            "{who} uses the index {number}{axis} of {array}: a negative index counts from the "
            "end, so this is element {meant}.",
            **facts,
            meant=fault.index + fault.length,
        )
        code, hint = "wrong-index", "Work out this index by hand for this thread."
    else:
        code = _out_of_bounds(kind)
        reach = say("the indices{axis} end at {last}", axis=axis, last=last)
        message = say(
            "{who} {verb} {array} at {index}{axis}, but {reach}.",
            who=who,
            verb={"load": "reads", "store": "writes", "atomic": "changes"}[kind],
            array=name,
            index=Index(fault.index, last),
            axis=axis,
            reach=reach if fault.length else "the array is empty",
            place=(fault.axis if many else 0, fault.index),
        )
        hint = _hint_outside(allocation, fault)
    return finding(code, message, line, hint, threads=(thread,), cell=name)


def _out_of_bounds(kind: str) -> str:
    return "out-of-bounds-read" if kind == "load" else "out-of-bounds-write"


def _hint_outside(allocation: Allocation, fault: Fault) -> str:
    """What to look at: the kernel's own arrays have the size that it gave them."""
    if allocation.space not in ("shared", "local"):
        return "Which element should this thread access here, if there is one for it?"
    made = say(" in {line}", line=Line(allocation.line)) if allocation.line else ""
    axis = f" along axis {fault.axis}" if len(allocation.shape) > 1 else ""
    return say(
        "{array} is created{made} with {elements} elements{axis}. How many elements does this "
        "index need? Is the array too small, or does the index go too far?",
        array=allocation.name,
        made=made,
        elements=fault.length,
        axis=axis,
    )


def _wide(
    fault: Fault, allocation: Allocation, kind: str, who: str
) -> tuple[str, Sentence, Sentence | str]:
    """Of an access of 16 bytes: elements outside the array, or an address that is not even."""
    verb = "reads" if kind == "load" else "writes"
    name, several = allocation.name, fault.elements
    size = several * allocation.dtype.itemsize
    accessed = (
        say("{several} elements of {name} at once, from", several=several, name=name)
        if several > 1
        else say("{name} at", name=name)
    )
    outside = fault.kind == "outside"
    what = say(
        "{who} {verb} {accessed} {index}",
        who=who,
        verb=verb,
        accessed=accessed,
        index=Index(fault.index, fault.length - 1 if outside else None, "flat index"),
    )
    code = "wrong-index"
    if outside:
        code = _out_of_bounds(kind)
        message = say("{what}, but its elements end at {last}.", what=what, last=fault.length - 1)
        hint: Sentence | str = "Which test should stop this thread here, or fill in zeros?"
        if allocation.space == "shared":
            hint = say("Is {array} too small, or does this index go too far?", array=name)
    elif fault.kind == "unaligned":
        message = say(
            "{what}. That needs an address that is a multiple of {size} bytes, and nothing "
            "guarantees that {array} begins at such an address.",
            what=what,
            size=size,
            array=name,
        )
        hint = say("cuda.shared.array and cuda.local.array take alignment={size}.", size=size)
    else:
        message = say(
            "{what}. An access to {size} bytes at once needs an index that is a multiple of "
            '{several}. Otherwise, a GPU stops with "misaligned address".',
            what=what,
            size=size,
            several=several,
        )
        hint = _hint_misaligned(allocation, fault)
    return code, message, hint


def _hint_misaligned(allocation: Allocation, fault: Fault) -> Sentence:
    several = fault.elements
    whole_rows = len(allocation.shape) < 2 or allocation.shape[-1] % several == 0
    if whole_rows or fault.index < allocation.shape[-1]:  # in the first row
        return say(
            "If one thread takes {several} neighbours, where does the next thread begin?",
            several=several,
        )
    return say("Is the length of a row a multiple of {several}?", several=several)


# --- The launch as a whole: steps used up, arithmetic in float64, only what is a cause ------------


def timeout(stop: BudgetExceeded, steps: int) -> Finding:
    """The finding for a launch that has used up its budget."""
    loop = stop.loop
    used_up = say("when the {steps} steps of this launch were used up", steps=f"{steps:,}")
    if loop is not None and loop.in_vain:
        used_up = say("when nothing that could end it had changed for a long time")
    if loop is None:
        running = "The kernel was still running {used_up}."
        hint = "Why does this launch take so many steps?"
        return finding("timeout", say(running, used_up=used_up), stop.line, hint)
    if loop.ends:
        message = "The loop in {line} was in iteration {turns} {used_up}."
        hint = (
            "How many threads share the work? How many iterations of this loop does each "
            "of them make?"
        )
    elif loop.for_lock:
        message = (
            "Lanes were still waiting for a lock in the loop in {line} {used_up}. Either no thread "
            "releases the lock, or the thread that holds it is a lane of the same warp. Such a "
            "lane continues only when all lanes of the warp have left the loop. The emulator "
            "always runs warps in this way, and a GPU may do so, too."
        )
        hint = (
            "Could the lane that gets the lock do its work and release it inside the loop, in the "
            "same iteration?"
        )
    else:
        message = "The loop in {line} had made {turns} iterations {used_up}."
        hint = "Does the condition of this loop ever become false?"
    facts = {"line": Line(loop.line), "turns": f"{loop.turns:,}", "used_up": used_up}
    return finding_of("timeout", message, loop.line, hint, **facts)


def float64_findings(
    lines: Iterable[int], made: Iterable[int], array_types: Collection[str]
) -> list[Finding]:
    """Lines that compute in float64, or make an array of it, unlike those that were passed in."""
    if {"float64", "complex128"}.intersection(array_types):
        return []
    arrays = "none of the arrays is"
    if len(array_types) == 1:
        arrays = f"the arrays are {next(iter(array_types))}"
    computes = say("This line computes in float64 although {arrays}.", arrays=arrays)
    holds = say("This array holds float64 although {arrays}.", arrays=arrays)
    value = (
        "Which value in this line is an integer or a Python float? np.float32(…) makes it float32."
    )
    size = "How many bytes does an element take here, and how many would be enough?"
    return [
        finding("float64-arithmetic", message, line, hint)
        for message, hint, places in ((computes, value, lines), (holds, size, made))
        for line in sorted(places)
    ]


def causes_only(
    findings: Iterable[Finding], reads_unwritten: Callable[[int | None, str], bool]
) -> list[Finding]:
    """The findings without those that another one explains.

    A read of an unwritten cell follows from a race in the same array, or from a misaligned access:
    a GPU stops there, so whatever should have been written later is missing. But what is written
    only after such a read is no race that a barrier mends: the read comes too early. That another
    thread's copy has not been waited for says less than that nothing orders the two lines. And what
    a lock or flag does not order that is given by a plain store, it may order with another one.

    Args:
        findings: all that were made.
        reads_unwritten: whether a line has read a cell in which nothing had been written.
    """
    kept = list(findings)
    late = [finding for finding in kept if _is_late_write(finding, reads_unwritten)]
    races = [
        finding for finding in kept if finding.code.startswith("race-") and finding not in late
    ]
    raced = {_array(race) for race in races}
    unordered = {_lines(race) for race in races if not _of_anothers_copy(race)}
    signals = any("waits_at" in facts_of(race.message) for race in races)
    stops = any(
        finding.code == "wrong-index" and "size" in facts_of(finding.message) for finding in kept
    )
    return [
        _with_late_write(finding, late)
        for finding in kept
        if not (finding.code == "uninitialised-read" and (stops or _array(finding) in raced))
        and not (_of_anothers_copy(finding) and _lines(finding) in unordered)
        and not (signals and finding in races and "waits_at" not in facts_of(finding.message))
        and not (finding in late and _array(finding) not in raced)
    ]


def _is_late_write(finding: Finding, reads_unwritten: Callable[[int | None, str], bool]) -> bool:
    """Does a store that races come after a read of a cell in which nothing had been written?"""
    return finding.code == "race-write-after-read" and reads_unwritten(
        finding.other_line, finding.cell
    )


def _with_late_write(finding: Finding, late: Iterable[Finding]) -> Finding:
    """A read of an unwritten cell; asked for what writes such cells later, if something does."""
    writes = [race.line for race in late if race.other_line == finding.line]
    if finding.code != "uninitialised-read" or not writes or writes[0] is None:
        return finding
    hint = say(
        "{line} writes such cells only after this line has read them. What has to be "
        "finished before this line?",
        line=Capital(Line(writes[0])),
    )
    return replace(finding, hint=hint)


def _array(finding: Finding) -> str:
    return finding.cell.split("[")[0]


def _lines(finding: Finding) -> tuple[str, frozenset[int | None]]:
    return _array(finding), frozenset(touching(finding))


def touching(finding: Finding) -> tuple[int | None, int | None]:
    """The two lines of a finding; of a copy told at a wait, those that touch the array."""
    if finding.code.startswith("race-"):
        match facts_of(finding.message):
            case {"line": Line(number=line), "copy_line": Line(number=other)}:
                return line, other
            case {"second_line": Line(number=line), "first_line": Line(number=other)}:
                return line, other
    return finding.line, finding.other_line


def _of_anothers_copy(finding: Finding) -> bool:
    """Is it a finding of CopyFaults about two threads?"""
    return "copy_line" in facts_of(finding.message) and len(finding.threads) > 1
