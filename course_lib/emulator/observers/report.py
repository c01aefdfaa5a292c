"""Says in sentences what the machine noticed: turns faults and races into findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.observers.races import Race
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Allocation
from course_lib.findings import Finding, finding
from course_lib.sentences import Index, Line, Sentence, say

OUTSIDE_ITS_OWN = "Which test should stop this thread here, or fill in zeros?"

Place = tuple[int, int, int]


def thread_name(thread: Place, block_size: Place) -> str:
    """A thread as a student would name it: by as many indices as the block has axes."""
    return say("thread {indices}", indices=_indices(thread, block_size))


def block_name(block: Place, grid: Place) -> str:
    """A block, likewise."""
    return say("block {indices}", indices=_indices(block, grid))


def _indices(place: Place, sizes: Place) -> str:
    axes = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
    return str(place[0]) if axes == 1 else "(" + ", ".join(map(str, place[:axes])) + ")"


class Reporter:
    """Writes findings for one launch.

    Args:
        grid, block: the launch, as (x, y, z).
    """

    def __init__(self, grid: Place, block: Place) -> None:
        self.grid = grid
        self.block = block

    def who(self, space: LaneSpace, lane: int) -> tuple[str, Place]:
        """A lane's name, with its block where there are several, and its thread index."""
        block, thread = space.describe(lane)
        return self._full_name(block, thread), thread

    def _full_name(self, block: Place, thread: Place) -> str:
        name = thread_name(thread, self.block)
        several = max(self.grid) > 1
        if not several:
            return name
        return say("{thread} of {block}", thread=name, block=block_name(block, self.grid))

    def fault(
        self, fault: Fault, allocation: Allocation, kind: str, line: int, space: LaneSpace
    ) -> Finding:
        """An index outside its array, or a negative one."""
        if fault.elements:
            return self._wide_fault(fault, allocation, kind, line, space)
        if fault.kind == "from-end":
            return _from_end(fault, allocation, line)
        if fault.kind == "negative":
            return self._negative(fault, allocation, line, space)
        return self._outside(fault, allocation, kind, line, space)

    def _negative(
        self, fault: Fault, allocation: Allocation, line: int, space: LaneSpace
    ) -> Finding:
        who, thread = self.who(space, fault.lane)
        return finding(
            "wrong-index",
            say(
                "{who} uses the index {number}{axis} of {array}: a negative index counts from "
                "the end, so the element {meant} is meant.",
                who=who,
                number=fault.index,
                axis=_along(allocation, fault),
                array=allocation.name,
                meant=fault.index + fault.length,
            ),
            line,
            "Work out this index by hand for this thread.",
            threads=(thread,),
            cell=allocation.name,
        )

    def _outside(
        self, fault: Fault, allocation: Allocation, kind: str, line: int, space: LaneSpace
    ) -> Finding:
        who, thread = self.who(space, fault.lane)
        axis, last = _along(allocation, fault), fault.length - 1
        reach = (
            say("the indices{axis} end at {last}", axis=axis, last=last)
            if fault.length
            else "the array is empty"
        )
        return finding(
            "out-of-bounds-read" if kind == "load" else "out-of-bounds-write",
            say(
                "{who} {verb} {array} at {index}{axis}, but {reach}.",
                who=who,
                verb={"load": "reads", "store": "writes", "atomic": "changes"}[kind],
                array=allocation.name,
                index=Index(fault.index, last),
                axis=axis,
                reach=reach,
                place=(fault.axis if len(allocation.shape) > 1 else 0, fault.index),
            ),
            line,
            _hint_outside(allocation, fault),
            threads=(thread,),
            cell=allocation.name,
        )

    def _wide_fault(
        self, fault: Fault, allocation: Allocation, kind: str, line: int, space: LaneSpace
    ) -> Finding:
        """Of an access of 16 bytes: elements outside the array, or an address that is not even."""
        who, thread = self.who(space, fault.lane)
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
        if outside:
            code = "out-of-bounds-read" if kind == "load" else "out-of-bounds-write"
            message = say(
                "{what}, but its elements end at {last}.", what=what, last=fault.length - 1
            )
            hint: Sentence | str = OUTSIDE_ITS_OWN
            if allocation.space == "shared":
                hint = say("Is {array} too small, or does this index reach too far?", array=name)
        elif fault.kind == "unaligned":
            code = "wrong-index"
            message = say(
                "{what}. That needs an address that is a multiple of {size} bytes, and nothing "
                "promises that {array} begins at one.",
                what=what,
                size=size,
                array=name,
            )
            hint = say("cuda.shared.array and cuda.local.array take alignment={size}.", size=size)
        else:
            code = "wrong-index"
            message = say(
                "{what}. {size} bytes at once need an index that is a multiple of {several}, or a "
                'GPU stops with "misaligned address".',
                what=what,
                size=size,
                several=several,
            )
            hint = _hint_misaligned(allocation, fault)
        return finding(code, message, line, hint, threads=(thread,), cell=name)

    def broken_warp(
        self, name: str, here: int, absent: int, line: int, space: LaneSpace
    ) -> Finding:
        """A function of whole warps, called by a part of one; `absent` is -1 if it has no more."""
        who, thread = self.who(space, here)
        if absent < 0:
            why = "but its warp has fewer: the block's size is no multiple of 32"
            threads: tuple[Place, ...] = (thread,)
        else:
            other, other_thread = self.who(space, absent)
            why = f"but {other} does not take part"
            threads = (thread, other_thread)
        return finding(
            "barrier-divergence",
            say(
                "{who} calls {name}, which the 32 threads of a warp carry out together, {why}.",
                who=who,
                name=name,
                why=why,
            ),
            line,
            "No branch on a thread's own index may stand around it.",
            threads=threads,
        )

    def left_out(self, name: str, here: int, absent: int, line: int, space: LaneSpace) -> Finding:
        """A shuffle or a vote whose mask names a thread that does not take part."""
        who, thread = self.who(space, here)
        other, other_thread = self.who(space, absent)
        return finding(
            "barrier-divergence",
            say(
                "{who} calls {name} with a mask that names {other} as well, but {other} does not "
                "get there: what comes out is undefined.",
                who=who,
                name=name,
                other=other,
            ),
            line,
            say(
                "Which threads does the mask name, and do all of them come to this {name}?",
                name=name,
            ),
            threads=(thread, other_thread),
        )

    def unnamed(self, name: str, lane: int, line: int, space: LaneSpace) -> Finding:
        """A shuffle or a vote by a thread that its own mask does not name."""
        who, thread = self.who(space, lane)
        return finding(
            "barrier-divergence",
            say(
                "{who} calls {name} with a mask that does not name it: what comes out is "
                "undefined.",
                who=who,
                name=name,
            ),
            line,
            "A mask has one bit for each lane of the warp. Which lanes come to this line?",
            threads=(thread,),
        )

    def too_early(
        self,
        kind: str,
        allocation: Allocation,
        cell: int,
        lane: int,
        line: int,
        copy_line: int,
        space: LaneSpace,
    ) -> Finding:
        """An access to a cell into which an asynchronous copy is on its way."""
        who, thread = self.who(space, lane)
        name = allocation.element_name(cell)
        reads = kind == "load"
        what = {"load": "reads", "copy": "starts another copy to"}.get(kind, "writes")
        return finding(
            "race-read-after-write" if reads else "race-write-after-write",
            say(
                "{who} {what} {name} at {line}, but the copy to it that was started at "
                "{copy_line} has not been waited for.",
                who=who,
                what=what,
                name=name,
                line=Line(line),
                copy_line=Line(copy_line),
            ),
            line,
            say(
                "Which cp_async_wait covers that copy? Or should this line {verb} another buffer?",
                verb="read" if reads else "fill",
            ),
            other_line=copy_line,
            threads=(thread,),
            cell=name,
        )

    def uninitialised(
        self, allocation: Allocation, cell: int, lane: int, line: int, space: LaneSpace
    ) -> Finding:
        """A read of a cell that nobody has written."""
        who, thread = self.who(space, lane)
        name = allocation.element_name(cell)
        where = {
            "shared": "Shared memory starts with undefined contents.",
            "local": "A local array starts with undefined contents.",
            "global": "What stands there before the launch is undefined.",
        }[allocation.space]
        return finding(
            "uninitialised-read",
            say(
                "{who} reads {name}, which no thread has written. {where}",
                who=who,
                name=name,
                where=where,
            ),
            line,
            "Which thread should have written this cell, and did it always do so?",
            threads=(thread,),
            cell=name,
        )

    def undefined(self, name: str, lane: int, line: int, space: LaneSpace) -> Finding:
        """A read of a variable that has no value on the path of some thread."""
        who, thread = self.who(space, lane)
        return finding(
            "uninitialised-read",
            say(
                "{who} uses {name}, but on its path {name} was never given a value.",
                who=who,
                name=name,
            ),
            line,
            say("Give {name} a value before the branch.", name=name),
            threads=(thread,),
            cell=name,
        )

    def raised(self, what: str, lane: int, line: int, space: LaneSpace) -> Finding:
        """An exception, which ends the thread."""
        who, thread = self.who(space, lane)
        return finding(
            "raised-exception",
            say("{who} raises {what} here, and ends.", who=who, what=what),
            line,
            "Which value led this thread to this line?",
            threads=(thread,),
        )

    def no_such_item(
        self, name: str, index: int, items: int, lane: int, line: int, space: LaneSpace
    ) -> Finding:
        """An index beyond a tuple."""
        who, thread = self.who(space, lane)
        has = "1 item" if items == 1 else say("{items} items", items=items)
        return finding(
            "out-of-bounds-read",
            say(
                "{who} asks for {item} of {name}, which has {has}. It raises an IndexError, and on "
                "a GPU a thread that raises ends without a word.",
                who=who,
                item=Index(index, items - 1, "item"),
                name=name,
                has=has,
            ),
            line,
            "Which values does this index take?",
            threads=(thread,),
            cell=name,
        )

    def not_below(self, tuples: str, lane: int, line: int, space: LaneSpace) -> Finding:
        """A comparison of tuples that let a thread through that lies outside an array."""
        who, thread = self.who(space, lane)
        return finding(
            "wrong-bounds-check",
            say(
                "{who} passes the test {tuples}, although one of its indices is outside: Python "
                "compares tuples like words in a dictionary, so the first numbers that differ "
                "decide.",
                who=who,
                tuples=tuples,
            ),
            line,
            "Which two comparisons does a thread at the right edge have to pass?",
            threads=(thread,),
        )

    def divergence(
        self, line: int, absent: int, present: int, returned: bool, space: LaneSpace
    ) -> Finding:
        """A barrier that some threads of a block do not reach."""
        missing, absent_thread = self.who(space, absent)
        waiting, present_thread = self.who(space, present)
        why = "has already returned" if returned else "does not reach it"
        return finding(
            "barrier-divergence",
            say(
                "{waiting} waits at the barrier in {line}, but {missing} {why}.",
                waiting=waiting,
                line=Line(line),
                missing=missing,
                why=why,
            ),
            line,
            "All threads of a block must pass the same cuda.syncthreads(): no return before it, "
            "no branch around it.",
            threads=(present_thread, absent_thread),
        )

    def race(self, race: Race) -> Finding:
        """Two accesses that nothing orders."""
        first = self._full_name(race.first_block, race.first_thread)
        second = self._full_name(race.second_block, race.second_thread)
        blocks: tuple[Place, ...] = ()
        if race.space == "global" and race.first_block != race.second_block:
            first = block_name(race.first_block, self.grid)
            second = block_name(race.second_block, self.grid)
            blocks = (race.first_block, race.second_block)
        message, hint = _race_sentence(race, first, second)
        return finding(
            race.code,
            message,
            race.second_line,
            hint,
            other_line=race.first_line,
            threads=(race.first_thread, race.second_thread),
            cell=race.cell,
            blocks=blocks,
        )

    def timeout(self, stop: BudgetExceeded, steps: int) -> Finding:
        """The budget ended the run."""
        loop = stop.loop
        used_up = say("when the {steps} steps of this launch were used up", steps=f"{steps:,}")
        if loop is None:
            message = say("The kernel was still running {used_up}.", used_up=used_up)
            return finding("timeout", message, stop.line, "What makes this launch so long?")
        if loop.ends:
            message = say(
                "The loop in {line} was in its turn {turns} {used_up}.",
                line=Line(loop.line),
                turns=f"{loop.turns:,}",
                used_up=used_up,
            )
            hint = (
                "How many threads share the work, and how often does each of them turn this loop?"
            )
        else:
            message = say(
                "The loop in {line} had turned {turns} times {used_up}.",
                line=Line(loop.line),
                turns=f"{loop.turns:,}",
                used_up=used_up,
            )
            hint = "Does its condition ever become false?"
        return finding("timeout", message, loop.line, hint)


def _along(allocation: Allocation, fault: Fault) -> str:
    """Along which axis an index is wrong; nothing where there is but one."""
    many = len(allocation.shape) > 1
    return say(" along axis {axis}", axis=fault.axis) if many else ""


def _from_end(fault: Fault, allocation: Allocation, line: int) -> Finding:
    return finding(
        "wrong-index",
        say(
            "The index {number}{axis} of {array} counts from the end: the element {meant} "
            "is meant.",
            number=fault.index,
            axis=_along(allocation, fault),
            array=allocation.name,
            meant=fault.index + fault.length,
        ),
        line,
        "Is the last element the one that is wanted?",
        severity="warning",
        cell=allocation.name,
    )


def _hint_outside(allocation: Allocation, fault: Fault) -> str:
    """What to look at: the kernel's own arrays have the size that it gave them."""
    if allocation.space not in ("shared", "local"):
        return "Which test should stop this thread here, where the element does not exist?"
    made = say(" in {line}", line=Line(allocation.line)) if allocation.line else ""
    axis = f" along axis {fault.axis}" if len(allocation.shape) > 1 else ""
    return say(
        "{array} is made{made} with {elements} elements{axis}: how many does this index need? Is "
        "the array too small, or does the index run too far?",
        array=allocation.name,
        made=made,
        elements=fault.length,
        axis=axis,
    )


def _hint_misaligned(allocation: Allocation, fault: Fault) -> Sentence:
    several = fault.elements
    if len(allocation.shape) < 2 or fault.index < allocation.shape[-1]:  # in the first row
        return say(
            "If one thread takes {several} neighbours, where does the next one begin?",
            several=several,
        )
    return say("Is the length of a row a multiple of {several}?", several=several)


def _race_sentence(race: Race, first: str, second: str) -> tuple[str, str]:
    facts: dict[str, Any] = {
        "first": first,
        "second": second,
        "cell": race.cell,
        "first_line": Line(race.first_line),
        "second_line": Line(race.second_line),
    }
    if race.updates:
        message = say(
            "{first} and {second} both read {cell}, change it and write it back at "
            "{first_line}; nothing orders them, so what one of them adds can be lost.",
            **facts,
        )
        return message, (
            "What does an atomic operation, such as cuda.atomic.add, do in one step that this line "
            "does in three?"
        )
    facts["lacking"], hint = _what_lacks(race)
    if "copy" in (race.first_kind, race.second_kind):
        return _copy_race_sentence(race, facts)
    if race.code == "race-write-after-write":
        rivals = "threads" if race.first_block == race.second_block else "blocks"
        hint = f"Which of the two {rivals} should write this element?"
    if race.code == "race-read-after-write":
        message = say(
            "{second} reads {cell} at {second_line}, perhaps before {first} has written it "
            "at {first_line}; {lacking}.",
            **facts,
        )
    elif race.code == "race-write-after-read":
        message = say(
            "{second} overwrites {cell} at {second_line}, perhaps before {first} has read it "
            "at {first_line}; {lacking}.",
            **facts,
        )
    elif race.first_line == race.second_line:
        if race.space == "global" and race.first_block == race.second_block:
            facts["lacking"] = "nothing says whose number stays"
        message = say(
            "{first} and {second} both write {cell} at {first_line}; {lacking}.",
            **facts,
        )
    else:
        message = say(
            "{first} writes {cell} at {first_line} and {second} writes it at "
            "{second_line}; {lacking}.",
            **facts,
        )
    return message, hint


def _what_lacks(race: Race) -> tuple[str, str]:
    """Why nothing orders the two accesses, and what to ask."""
    if race.space == "global" and race.first_block != race.second_block:
        return (
            "blocks of one launch run in any order",
            "Let each element be written by one block only, or use an atomic operation.",
        )
    lacking = "no cuda.syncthreads() stands between"
    if race.same_warp:
        lacking = "no barrier stands between, and even the threads of one warp need not run in step"
    return lacking, "What must be finished before this line may run, and what waits for it?"


def _copy_race_sentence(race: Race, facts: Mapping[str, Any]) -> tuple[str, str]:
    """The same where an asynchronous copy is the store."""
    hint = "A thread waits for its own copies only: then all meet, then anyone may read them."
    if race.code == "race-read-after-write":
        message = say(
            "{second} reads {cell} at {second_line}, perhaps before the copy that {first} "
            "started at {first_line} has landed: a cp_async_wait and then a "
            "cuda.syncthreads() must stand between.",
            **facts,
        )
    elif race.code == "race-write-after-read":
        message = say(
            "The copy that {second} starts at {second_line} overwrites {cell}, perhaps "
            "before {first} has read it at {first_line}; {lacking}.",
            **facts,
        )
        hint = "Who may still read this part of the tile, and which barrier tells that all have?"
    else:
        message = say(
            "{first} writes {cell} at {first_line} and {second} writes it at "
            "{second_line}, one of them by a copy; {lacking}.",
            **facts,
        )
        hint = "Which of the two threads should write this element?"
    return message, hint
