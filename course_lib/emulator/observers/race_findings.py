"""The sentences about races: which two accesses race, and what to look at.

Races that one barrier would end are one finding, which names the lines of all.
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.emulator.language.kernel import holds
from course_lib.emulator.observers.findings import Place, ThreadNames, block_name
from course_lib.emulator.observers.harmless_races import (
    CellMarks,
    is_checked,
    is_same_value,
    is_start_value,
    is_waited_for,
)
from course_lib.emulator.observers.races import Race
from course_lib.emulator.observers.tracing import DRAW, SWAP, change_in, is_swap
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import Line, Sentence, facts_of, say

# Why a race does no harm.
SAME = "same"  # one value, whichever thread writes it
START = "start"  # a bound read beforehand, which others lower or raise meanwhile by an atomic
MARK = "mark"  # compared with what it is neither before the other thread's store nor after it
SIGNAL = "signal"  # a plain store, where other threads wait for the cell by atomic operations


class RaceNotes:
    """Notes the races of one launch as findings; called with each race.

    `trees` are the kernel and the functions that it calls, `generators` the arrays that hold states
    of random number generators, `values` what global names and arguments stand for.
    """

    def __init__(
        self,
        trees: tuple[ast.AST, ...],
        generators: Collection[str],
        values: Mapping[str, Any],
        names: ThreadNames,
        note: Callable[[Finding], None],
    ) -> None:
        self.trees, self.generators, self.values = trees, generators, values
        self.names, self.note = names, note

    def __call__(self, race: Race) -> None:
        lines, kinds = race.lines, race.kinds
        if kinds != {"load", "atomic"} or not is_checked(lines, self.trees):
            change = self._change(race)
            is_shared = race.allocation.space == "shared"
            is_plain = is_shared and not (race.lacks_fence or race.beside_threads)
            if is_plain and kinds == {"load", "store"} and not (change or race.same_warp):
                race = replace(race, waited_at=syncwarp_between(*lines, self.trees))
            self.note(race_finding(race, self.names, change))

    def _change(self, race: Race) -> str:
        """What the lines do to the cell that they race for (tracing.py), or why it does no harm."""
        lines, kinds = race.lines, race.kinds
        if race.allocation.name in self.generators:
            return DRAW
        if kinds == {"load", "atomic"} and is_start_value(lines, self.trees):
            return START
        if kinds == {"store", "atomic"} and is_waited_for(lines, self.trees):
            return SIGNAL
        if kinds == {"store"} and is_same_value(lines, self.trees):
            return SAME
        if kinds <= {"store", "load"} and self._are_marks(race):
            return SAME if kinds == {"store"} else MARK
        if race.both_change and is_swap(lines, self.trees):
            return SWAP
        return change_in(race.first.line, self.trees) if race.updates else ""

    def _are_marks(self, race: Race) -> bool:
        if len(self.trees) > 1:  # an array has another name in each function
            return False
        stores, loads = (
            {end.line for end in (race.first, race.second) if end.kind == kind}
            for kind in ("store", "load")
        )
        return CellMarks(self.trees[0], self.values).race(stores, loads)


def syncwarp_between(first: int, second: int, trees: Sequence[ast.AST]) -> int:
    """The last line between two of one function with a `syncwarp`; 0 if there is none."""
    tree = next((tree for tree in trees if holds(tree, first) and holds(tree, second)), None)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    named = (call for call in calls if getattr(call.func, "attr", "") == "syncwarp")
    return max((call.lineno for call in named if first < call.lineno < second), default=0)


def race_finding(race: Race, names: ThreadNames, change: str) -> Finding:
    """Two accesses that nothing orders; `change`: what the line does to the cell (tracing.py)."""
    first = names.full(race.first.block, race.first.thread)
    second = names.full(race.second.block, race.second.thread)
    blocks: tuple[Place, ...] = ()
    if race.between_blocks:
        first = block_name(race.first.block, names.grid)
        second = block_name(race.second.block, names.grid)
        blocks = (race.first.block, race.second.block)
    line, other_line = race.released_in or race.second.line, race.first.line
    if race.waited_at and race.code != "race-write-after-write":
        line, other_line = race.waited_at, race.second.line
    if change == SIGNAL:
        if race.second.kind == "atomic":  # told of the store
            first, second, line, other_line = second, first, other_line, line
        message, hint = _signal_sentence(first, second, race.cell, other_line, line)
    else:
        message, hint = _race_sentence(race, first, second, change)
    return finding(
        race.code,
        message,
        line,
        hint,
        "warning" if change in (SAME, START, MARK) else None,
        other_line=other_line,
        threads=(race.first.thread, race.second.thread),
        cell=race.cell,
        blocks=blocks,
        order=race.order if line == race.second.line else (),
    )


def _race_sentence(race: Race, first: str, second: str, change: str) -> tuple[str, str]:
    facts: dict[str, Any] = {
        "first": first,
        "second": second,
        "cell": race.cell,
        "first_line": Line(race.first.line),
        "second_line": Line(race.second.line),
    }
    if change == SAME:
        message = say(
            "{first} and {second} both write {cell} at {second_line}. They write the same value, "
            "so it does not matter which of them comes last.",
            **facts,
        )
        return message, "Which single thread could write this element?"
    if change in (START, MARK):
        message = say(
            "{first} and {second} access {cell} at {first_line} and {second_line}. One reads what "
            "the other may already have updated, and either value leads to the same result.",
            **facts,
        )
        if change == START:
            return message, "Which value could each thread start from without reading this one?"
        return message, "Could this launch read from one array and write to another?"
    if race.updates or change in (DRAW, SWAP):
        return _update_sentence(race, change, facts)
    facts["lacking"], hint = _what_lacks(race)
    if race.beside_threads:
        return _beside_sentence(race, facts)
    if "copy" in race.kinds:
        return _copy_race_sentence(race, facts)
    if race.code == "race-write-after-write":
        rivals = "threads" if race.first.block == race.second.block else "blocks"
        hint = f"Which of the two {rivals} should write this element?"
    elif not race.lacks_fence and race.first.block == race.second.block:
        facts[LACKS] = True
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
    elif race.first.line == race.second.line:
        if race.allocation.space == "global" and race.first.block == race.second.block:
            facts["lacking"] = "nothing decides whose value survives"
        message = say("{first} and {second} both write {cell} at {first_line}; {lacking}.", **facts)
    else:
        message = say(
            "{first} writes {cell} at {first_line} and {second} writes it at "
            "{second_line}; {lacking}.",
            **facts,
        )
    return message, hint


def _signal_sentence(
    waiting: str, setting: str, cell: str, waits_at: int, set_at: int
) -> tuple[str, str]:
    """A lock or a flag that is set as if nobody waited for it."""
    message = say(
        "{waiting} waits for {cell} at {waits_at} with an atomic operation, but "
        "{setting} sets it at {set_at} with a plain store. A plain store does not "
        "ensure that earlier writes have arrived.",
        waiting=waiting,
        cell=cell,
        waits_at=Line(waits_at),
        setting=setting,
        set_at=Line(set_at),
    )
    return message, "Which operation sets the cell and also makes the earlier writes visible?"


def _update_sentence(race: Race, change: str, facts: Mapping[str, Any]) -> tuple[str, str]:
    """Two threads that read a cell and write it back."""
    lacking, hint = _what_lacks(race)
    unordered = lacking if race.lacks_fence else "nothing orders them"
    if change == DRAW:
        message = say(
            "{first} and {second} both draw a random number from the state {cell}. Nothing orders "
            "them, so both may get the same number.",
            **facts,
        )
        return message, (
            "Each thread needs its own state. How many states are there, and which one does each "
            "thread use?"
        )
    if change == SWAP:
        message = say(
            "{first} and {second} both swap {cell} with another element at {second_line}, so one "
            "of them may undo the other's swap.",
            **facts,
        )
        return message, "Two threads handle each pair. Which of the two should do the swap?"
    message = say(
        "{first} and {second} both read {cell}, change it and write it back at "
        "{first_line}; {unordered}, so what one of them {does} can be lost.",
        **facts,
        unordered=unordered,
        does="adds" if change == "add" else "writes",
    )
    if race.lacks_fence:
        return message, hint
    if not change:
        return message, "Several threads update this element. Which of these threads should do it?"
    hint = say(
        "What does an atomic operation, such as cuda.atomic.{change}, do in one step that this "
        "line does in three?",
        change=change,
    )
    return message, hint


def _what_lacks(race: Race) -> tuple[str, str]:
    """Why nothing orders the two accesses, and what to ask."""
    if race.lacks_fence:
        return (
            "there is an atomic operation in between, but no cuda.threadfence() before it",
            "The atomic operation tells another thread to go on. Which writes must that "
            "thread be able to see by then?",
        )
    if race.between_blocks:
        return (
            "the blocks of a launch run in any order",
            "Could a single block write each element? If not, use an atomic operation.",
        )
    lacking = "there is no cuda.syncthreads() in between"
    if race.waited_at and race.first.kind != "copy":
        lacking = say(
            "the cuda.syncwarp() at {waited_at} makes only the threads of one warp wait",
            waited_at=Line(race.waited_at),
        )
    if race.same_warp:
        lacking = (
            "there is no barrier in between, and even the threads of one warp need not run in step"
        )
    return (
        lacking,
        "What must be finished before this line may run, and where does the kernel wait for it?",
    )


def _copy_race_sentence(race: Race, facts: Mapping[str, Any]) -> tuple[str, str]:
    """The same where an asynchronous copy is the store."""
    hint = (
        "A thread can wait only for its own copies. What makes the block wait until all "
        "threads have done so?"
    )
    if race.code == "race-read-after-write":
        lacks = "Between the two there must be a cp_async_wait and then a cuda.syncthreads()."
        if race.waited_at:
            facts = {**facts, LACKS: True}
            lacks = say(
                "The wait at {waited_at} waits only for each thread's own copies, and no "
                "cuda.syncthreads() follows it before the read.",
                waited_at=Line(race.waited_at),
            )
        message = say(
            "{second} reads {cell} at {second_line}, perhaps before the copy that {first} started "
            "at {first_line} has arrived. {lacks}",
            **facts,
            lacks=lacks,
        )
    elif race.code == "race-write-after-read":
        message = say(
            "The copy that {second} starts at {second_line} overwrites {cell}, perhaps "
            "before {first} has read it at {first_line}; {lacking}.",
            **facts,
        )
        hint = (
            "Which threads may still be reading this part of the tile, and which barrier waits "
            "for them?"
        )
    else:
        message = say(
            "{first} writes {cell} at {first_line} and {second} writes it at "
            "{second_line}, one of them with a copy; {lacking}.",
            **facts,
        )
        hint = "Which of the two threads should write this element?"
    return message, hint


def _beside_sentence(race: Race, facts: Mapping[str, Any]) -> tuple[str, str]:
    """The same of a copy of TMA, or a product of wgmma, that goes on beside the threads."""
    does = {"copy": "writes", "store": "writes", "load": "reads", "atomic": "changes"}
    if race.released_in:
        message = say(
            "The operation that {first} started at {first_line} may still be using {cell} when "
            "{released_in} tells the other threads to go on, so the operation of {second} at "
            "{second_line} may change it too early.",
            **{key: facts[key] for key in ("first", "first_line", "cell", "second", "second_line")},
            released_in=Line(race.released_in),
        )
        return message, (
            "What must this thread have waited for before it tells others that the memory is free?"
        )
    message = say(
        "The operation of {first} at {first_line} {does} {cell}, and the operation of {second} at "
        "{second_line} {does_too} it. Nothing in between waits until the first one is done.",
        **{key: facts[key] for key in ("first", "first_line", "cell", "second", "second_line")},
        does=does[race.first.kind],
        does_too=does[race.second.kind],
    )
    return message, (
        "Which barrier signals that the first operation is done? Which threads wait there, and for "
        "which phase? A product is done when its own wait returns."
    )


# --- Races that one barrier would end -------------------------------------------------------------
# A barrier orders what stands before it and what stands behind it. So one is enough for two races
# if it can stand between the lines of the one and of the other as well; or, where an iteration of a
# loop races with the next one, at the end of the same loop.


LACKS = "lacks_barrier"  # the fact of a race that a barrier of its block would end


def one_for_each_barrier(findings: Iterable[Finding], trees: Sequence[ast.AST]) -> list[Finding]:
    """The findings, of which each race that needs a barrier is there once for each barrier."""
    kept = list(findings)
    for group in _groups([race for race in kept if LACKS in facts_of(race.message)], trees):
        # What is read too early is the clearer one; of the others the first that was found.
        told = min(group, key=lambda race: race.code)
        kept = [race for race in kept if race is told or race not in group]
        kept[kept.index(told)] = _with_lines(told, group)
    return kept


def _groups(races: Sequence[Finding], trees: Sequence[ast.AST]) -> Iterator[list[Finding]]:
    """Races that one barrier ends."""
    straight: dict[ast.AST, list[Finding]] = {}
    around: dict[ast.AST, list[Finding]] = {}
    for race in races:
        first, last = _ends(race)
        tree = next((tree for tree in trees if holds(tree, first) and holds(tree, last)), None)
        if tree is None:
            continue
        if first < last and not _in_two_arms(tree, first, last):
            straight.setdefault(tree, []).append(race)
        elif loop := _loop_of(tree, first, last):
            around.setdefault(loop, []).append(race)
    yield from around.values()
    for together in straight.values():
        left = sorted(together, key=lambda race: _ends(race)[1])
        while left:
            _, before = _ends(left[0])  # the barrier stands above the first line that needs it
            yield [race for race in left if _ends(race)[0] < before]
            left = [race for race in left if _ends(race)[0] >= before]


def _ends(race: Finding) -> tuple[int, int]:
    """The line behind which a barrier is missing, and the one that should come after it."""
    facts = facts_of(race.message)
    first = facts["waited_at" if "lacks" in facts else "first_line"]
    return first.number, facts["second_line"].number  # type: ignore[attr-defined]


def _in_two_arms(tree: ast.AST, first: int, last: int) -> bool:
    """Are they in the two arms of a branch, so that no thread comes from one to the other?"""
    branches = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    return any(
        any(holds(part, first) for part in node.body)
        and any(holds(part, last) for part in node.orelse)
        for node in branches
    )


def _loop_of(tree: ast.AST, first: int, last: int) -> ast.AST | None:
    """The innermost loop that holds both lines."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    around = [loop for loop in loops if holds(loop, first) and holds(loop, last)]
    return around[-1] if around else None


def _with_lines(told: Finding, group: Sequence[Finding]) -> Finding:
    """A race whose message names the lines of the others, too, and has all of them as a fact."""
    if len(group) == 1:
        return told
    lines = {line for finding in group for line in (finding.line, finding.other_line) if line}
    others = sorted(lines - {told.line, told.other_line})
    facts = {f"line_{number}": Line(line) for number, line in enumerate(others)}
    names = [f"{{{name}}}" for name in facts]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    message = say(
        "{said} The same barrier is missing for {lines}." if others else "{said}",
        said=told.message,
        lines=Sentence(listed, {}, facts),
        ended_by_it=tuple(
            (finding.code, finding.cell.split("[")[0], finding.line) for finding in group
        ),
    )
    return replace(told, message=message)
