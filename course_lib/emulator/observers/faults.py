"""Makes findings of what should not happen in a launch: bad accesses, threads that go astray."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.emulator.observers.findings import FaultObserver, Place, ThreadNames, index_finding
from course_lib.emulator.profile.profile import StaleRead
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask, Value, spread
from course_lib.emulator.state.memory import Allocation, CopyStories, Memory
from course_lib.wording.findings import Finding, Severity, finding
from course_lib.wording.sentences import Index, Line, Sentence, say

COMMIT = "After which copies do you need a cp_async_commit()?"
MOST_LOOKED_AT = 64  # accesses of a line to cells under way, until a thread meets its own copy


@dataclass
class _Awaited:
    """A line with a `syncwarp`; all are rows of warps."""

    came: Any = False  # the lanes that came there
    missed: Any = False  # those that had not returned and did not come
    elsewhere: Any = False  # those of them that then came to something else for which lanes wait


class Faults(FaultObserver):
    """Makes a finding of every fault.

    Args:
        is_own: whether it is anybody's own kernel, in which what is legal may also be meant.

    Attributes:
        stale_reads: reads of what was left from an earlier round, which may be meant.
    """

    def __init__(
        self, names: ThreadNames, note: Callable[[Finding], None], is_own: bool = False
    ) -> None:
        super().__init__(names, note)
        self._is_own = is_own
        self.stale_reads: dict[tuple[int, str], StaleRead] = {}

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        super().begin(space, memory)
        self._ended = np.zeros(space.size, bool)  # by an exception that a finding tells of
        self._synced: Any = 0  # how often each lane came to a syncwarp, in rows of warps
        self._awaited: dict[int, _Awaited] = {}

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        found = index_finding(fault, allocation, kind, line, *self.who(fault.lane))
        if self._is_own and fault.kind == "from-end":
            return
        if self._is_own and fault.kind == "negative":
            found = replace(found, severity="warning")  # it has a meaning, and may be meant
        self.note(found)

    def stale(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        if key not in self.stale_reads:
            lane, number = _first_lane(bad, cell)
            block, thread = self.space.describe(lane)
            name = allocation.element_name(number)
            self.stale_reads[key] = StaleRead(line, allocation.name, name, thread, block)

    def undefined(self, name: str, bad: Mask, line: int) -> None:
        self.tell(
            int(np.argmax(bad.full_array)),
            "uninitialised-read",
            "{who} uses {name}, but no line that this thread executed has given {name} a value.",
            line,
            say("Give {name} a value before the branch.", name=name),
            name=name,
            at=name,
        )

    def raised(self, what: str, mask: Mask, line: int) -> None:
        self._ended |= mask.full_array.reshape(-1)
        lane, said = int(np.argmax(mask.full_array)), "{who} raises {what} here and ends."
        hint = "Which value led this thread to this line?"
        self.tell(lane, "raised-exception", said, line, hint, what=what)

    def no_such_item(self, name: str, index: Value, items: int, bad: Mask, line: int) -> None:
        self._ended |= bad.full_array.reshape(-1)
        lane, number = _first_lane(bad, index)
        self.tell(
            lane,
            "out-of-bounds-read",
            "{who} asks for {item} of {name}, which has {has}. This raises an IndexError, and on a "
            "GPU a thread that raises ends silently.",
            line,
            "Which values does this index take?",
            item=Index(number, items - 1, "item"),
            name=name,
            has="1 item" if items == 1 else say("{items} items", items=items),
            at=name,
        )

    def not_below(self, tuples: str, passed: Mask, line: int) -> None:
        self.tell(
            int(np.argmax(passed.full_array)),
            "wrong-bounds-check",
            "{who} passes the test {tuples}, although one of its indices is outside. Python "
            "compares tuples in the order in which a dictionary sorts words, so only the first "
            "two numbers that differ count.",
            line,
            "Which two comparisons should a thread at the right edge have to pass?",
            tuples=tuples,
        )

    def broken_warp(self, name: str, mask: Mask, line: int) -> None:
        active = self.space.warps_of(mask.full_array, False).reshape(-1, WARP_SIZE)
        partly = active.any(axis=1) & ~active.all(axis=1)
        block, warp = divmod(int(np.argmax(partly)), self.space.warps_per_block)
        lanes = active[block * self.space.warps_per_block + warp]
        first = warp * WARP_SIZE
        here, absent = first + int(np.argmax(lanes)), first + int(np.argmin(lanes))
        start = block * self.space.block_size
        others: list[Place] = []
        why = "but its warp has fewer: the block's size is not a multiple of 32"
        if absent < self.space.block_size:
            other, other_thread = self.who(start + absent)
            why = f"but {other} does not take part"
            others.append(other_thread)
        self.tell(
            start + here,
            "barrier-divergence",
            "{who} calls {name}, which the 32 threads of a warp execute together, {why}.",
            line,
            "Is this call inside a branch that depends on the thread's index?",
            *others,
            name=name,
            why=why,
        )

    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None:
        if name == "syncwarp":  # those who are absent here may meet the others at another one
            awaited = self._awaited.setdefault(line, _Awaited())
            awaited.came = awaited.came | active
            awaited.missed = awaited.missed | absent
        else:
            self._note_left_out(name, active, absent, line)

    def meets(self, mask: Mask) -> None:
        for awaited in self._awaited.values():
            here = self.space.warps_of(mask.full_array, False)
            awaited.elsewhere = awaited.elsewhere | (awaited.missed & here)

    def syncwarp(self, mask: Mask) -> None:
        self._synced = self._synced + self.space.warps_of(mask.full_array, False)

    def end(self) -> None:
        for line, awaited in self._awaited.items():
            often = np.where(awaited.came, self._synced, 0).max(axis=2, keepdims=True)
            absent = awaited.missed & (self._synced < often)
            if absent.any():
                active = awaited.came & absent.any(axis=2, keepdims=True)
                goes_on = self._is_own and not np.any(absent & awaited.elsewhere)
                self._note_left_out("syncwarp", active, absent, line, goes_on)

    def _note_left_out(
        self, name: str, active: np.ndarray, absent: np.ndarray, line: int, goes_on: bool = False
    ) -> None:
        row = int(np.argmax(absent.any(axis=2).reshape(-1)))
        who, thread = self.who(self._lane_of(active, row))
        other, other_thread = self.who(self._lane_of(absent, row))
        message = (
            "{who} calls {name} with a mask that includes {other}, but {other} does not "
            "get there: the result is undefined."
        )
        hint = "Which threads does the mask include? Do all of them reach this {name}?"
        if name == "syncwarp":
            message = (
                "{who} also waits at cuda.syncwarp() for {other}, but {other} does not get "
                "there. What a GPU does then is undefined."
            )
            hint = "Do all lanes of the warp get here, or all those that its mask includes?"
        if goes_on:
            message = (
                "{who} also waits at cuda.syncwarp() for {other}, but {other} returns without it. "
                "That works only because a GPU does not wait for threads that have returned."
            )
        said, asked = say(message, who=who, name=name, other=other), say(hint, name=name)
        severity: Severity | None = "warning" if goes_on else None
        threads = thread, other_thread
        self.note(finding("barrier-divergence", said, line, asked, severity, threads=threads))

    def no_such_lane(
        self, name: str, lanes: np.ndarray, wanted: np.ndarray, active: np.ndarray, line: int
    ) -> None:
        row = int(np.argmax(lanes.any(axis=2).reshape(-1)))
        lane = int(np.argmax(lanes.reshape(-1, WARP_SIZE)[row]))
        asked = int(wanted.reshape(-1, WARP_SIZE)[row, lane])
        block, warp = divmod(row, self.space.warps_per_block)
        first = block * self.space.block_size + warp * WARP_SIZE
        others: list[Place] = []
        other: str = say("lane {asked} of its warp", asked=asked)
        why = "but its block has no such thread"
        if warp * WARP_SIZE + asked < self.space.block_size:
            other, other_thread = self.who(first + asked)
            others.append(other_thread)
            named = active.reshape(-1, WARP_SIZE)[row, asked]
            why = "which the mask does not include" if named else "which takes no part"
        self.tell(
            first + lane,
            "uninitialised-read",
            "{who} uses {name} to get the value of {other}, {why}: the result is undefined.",
            line,
            "From which lane does each lane read here? Do both lanes take part?",
            *others,
            name=name,
            other=other,
            why=why,
            at=name,
        )

    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None:
        self.tell(
            self._lane_of(lanes, int(np.argmax(lanes.any(axis=2).reshape(-1)))),
            "barrier-divergence",
            "{who} calls {name} with a mask that does not include this thread, so the "
            "result is undefined.",
            line,
            "A mask has one bit for each lane of the warp. Which lanes reach this line?",
            name=name,
        )

    def _lane_of(self, rows: np.ndarray, row: int) -> int:
        """The first lane of one row of warps."""
        block, warp = divmod(row, self.space.warps_per_block)
        first = block * self.space.block_size + warp * WARP_SIZE
        return first + int(np.argmax(rows.reshape(-1, WARP_SIZE)[row]))

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """A barrier that some threads of a block do not reach."""
        self.meets(arrived)
        lanes = arrived.lanes_by_block
        partly = (lanes > 0) & (lanes < self.space.block_size)
        if partly.any():
            size = self.space.block_size
            lanes_of_block = np.arange(size) + int(np.argmax(partly)) * size
            hint = (
                "All threads of a block must reach the same cuda.syncthreads(). Which return "
                "before it, or which branch around it, keeps some of them away?"
            )
            self._divergence(line, lanes_of_block, arrived, live, hint)

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """A barrier of the grid that some threads do not reach.

        A block's first thread speaks for it. As long as that comes, GPUs go on without those that
        have returned, though the CUDA Programming Guide does not allow it.
        """
        if arrived.lanes == self.space.size:
            return
        hint = (
            "All threads of the grid must reach grid.sync(). No thread may return before it or "
            "branch around it."
        )
        firsts = arrived.full_array.reshape(-1, self.space.block_size)[:, 0]
        goes_on = bool(firsts.all()) and arrived.lanes == live.lanes
        lanes = np.arange(self.space.size)
        self._divergence(line, lanes, arrived, live, hint, "warning" if goes_on else None)

    def _divergence(
        self,
        line: int,
        lanes: np.ndarray,
        arrived: Mask,
        live: Mask,
        hint: str,
        severity: Severity | None = None,
    ) -> None:
        """Of these lanes some have arrived at a barrier, and some have not."""
        present = arrived.full_array.reshape(-1)[lanes]
        missed = ~present & ~self._ended.reshape(-1)[lanes]
        if not missed.any():
            return  # only those that an exception has ended, which is told already
        absent = int(lanes[np.argmax(missed)])
        returned = not live.full_array.reshape(-1)[absent]
        missing, absent_thread = self.who(absent)
        waiting, present_thread = self.who(int(lanes[np.argmax(present)]))
        why = "has already returned" if returned else "does not reach it"
        message = "{waiting} waits at the barrier in {line}, but {missing} {why}."
        said = say(message, waiting=waiting, line=Line(line), missing=missing, why=why)
        threads = present_thread, absent_thread
        self.note(finding("barrier-divergence", said, line, hint, severity, threads=threads))


class CopyFaults(FaultObserver):
    """Makes a finding of every access to cells into which an asynchronous copy is under way.

    What a thread does with its own copy is told at once. With another thread's, the two may simply
    not be ordered, which the races say better: it is told last, and only where they say nothing.
    """

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        super().begin(space, memory)
        self._of_others: list[Finding] = []
        self._looked_at: Counter[tuple[str, str, int, int]] = Counter()

    def too_early(
        self,
        kind: str,
        allocation: Allocation,
        cell: Value,
        bad: Mask,
        line: int,
        started: Value,
        elements: int,
    ) -> None:
        _, copy_line = _first_lane(bad, started)
        key = (kind, allocation.name, line, copy_line)
        if self._looked_at[key] >= MOST_LOOKED_AT:
            return
        self._looked_at[key] += 1
        assert allocation.copies is not None
        stories = allocation.copies.stories_at(cell, elements)
        lanes = np.flatnonzero(bad.full_array)
        own = lanes[stories.starters[lanes] == lanes]
        lane = int(own[0] if own.size else lanes[0])
        name = allocation.element_name(int(spread(cell, self.space.shape).reshape(-1)[lane]))
        found = self._finding(kind, name, lane, line, copy_line, stories)
        if own.size:
            self._looked_at[key] = MOST_LOOKED_AT
            self.note(found)
        else:
            self._of_others.append(found)

    def _finding(
        self, kind: str, name: str, lane: int, line: int, copy_line: int, stories: CopyStories
    ) -> Finding:
        starter, waited_at = int(stories.starters[lane]), int(stories.idle_at[lane])
        who, thread = self.who(lane)
        lacks = "has not been waited for"
        hint: Sentence | str = (
            "Which cp_async_wait covers that copy? Or should one of the two lines use another "
            "buffer?"
        )
        groups = int(stories.lets_go[lane])
        newest = "group" if groups == 1 else f"{groups} groups"
        told_at = waited_at or line
        if stories.is_open[lane]:
            lacks = "is not in a closed group, and a wait covers only closed groups"
            hint, waited_at, told_at = COMMIT, 0, copy_line
        elif stories.was_missed[lane]:
            lacks = "was not in a closed group when the thread waited"
            hint, waited_at, told_at = COMMIT, 0, copy_line
        elif waited_at:
            hint = (
                "Which copy must be complete after this line? How many newer groups has the "
                "thread closed by then, each time?"
            )
        elif groups:
            hint = say(
                "cp_async_wait({groups}) does not wait for this thread's newest {newest}. Does "
                "that copy belong there?",
                groups=groups,
                newest=newest,
            )
        message = say(
            "{who} {what} {name} at {line}, but the copy to it that was started at "
            "{copy_line} {lacks}.",
            who=who,
            what={"load": "reads", "copy": "starts another copy to"}.get(kind, "writes"),
            name=name,
            line=Line(line),
            copy_line=Line(copy_line),
            lacks=lacks,
        )
        if waited_at:
            message = say(
                "cp_async_wait({groups}) leaves a thread's newest {newest} in flight, and here it "
                "has no older group to wait for: {seen}",
                groups=groups,
                newest=newest,
                seen=message,
            )
        return finding(
            "race-read-after-write" if kind == "load" else "race-write-after-write",
            message,
            told_at,
            hint,
            other_line=copy_line if told_at == line else line,
            threads=(thread,) if starter == lane else (thread, self.who(starter)[1]),
            cell=name,
        )

    def end(self) -> None:
        for found in self._of_others:
            self.note(found)


def _first_lane(bad: Mask, cell: Value) -> tuple[int, int]:
    """The first lane in `bad`, and its cell."""
    lane = int(np.argmax(bad.full_array))
    return lane, int(np.broadcast_to(cell, bad.space.shape).reshape(-1)[lane])
