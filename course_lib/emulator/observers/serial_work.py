"""Work that is not shared out: lanes wait for their warp, warps for one thread, atomics in a queue.

Where only data decide who works (a loop until something converges, a sparse row), nothing is said:
no other order of the threads is known to be better.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.budget import LaunchShape
from course_lib.emulator.language.intrinsics import Atomic
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.findings import finding_of
from course_lib.emulator.observers.meter import over_same_blocks
from course_lib.emulator.observers.values_in_text import (
    adds_up,
    decided_by_data,
    each_for_itself,
    is_at_edge,
    leaves_by_data,
)
from course_lib.emulator.state.lanes import WARP_SIZE, Mask
from course_lib.emulator.state.memory import Access
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say
from course_lib.wording.words import counted

if TYPE_CHECKING:
    from course_lib.emulator.machine.events import Frame

PARTED = 0.1  # of all warps' turns: what neighbours would save, from which it is worth a word
PARTED_BRIEFLY = 0.15  # the same of two sides with a few statements, once
ALONE = 0.1  # of all warps' turns that one thread of a block takes by itself
WAITED_FOR = 0.2  # of a block's way from start to end, on which all others wait for one thread
WAITED_FOR_A_WARP = 0.3  # the same, for one warp; such tails are usual, and short
LONG = 16  # statements that one thread or warp does alone
MANY_WARPS = 3  # of a block, from which one that works alone is worth a word
EMPTY = 0.3  # of the lanes of a block's warps: those without a thread, from which it is worth it
FEW = 64  # turns or updates: below, a launch is too small to say anything
MUCH = 512  # statements that the warps of a few blocks execute, from which it is worth a word
QUEUE = 4  # updates of a warp to each element
SHORT = 3  # statements that one lane of a warp may do for the others, once


@dataclass
class LineTurns:
    """The turns of warps in a line: all, and those that would do.

    If the threads of a block that work were neighbours, fewer warps would hold them. `alone` are
    those of a block's one thread, `by_one_warp` those of no more threads than a warp has.
    """

    all: int = 0
    needed: int = 0
    alone: int = 0
    by_one_warp: int = 0


@dataclass
class _Queue:
    """Atomic updates of one line to one array, and how many elements their warps named."""

    updates: int = 0
    elements: int = 0


class WaitNotes(Observer):
    """Notes how the lanes that work are spread over warps, and which updates queue."""

    def __init__(self) -> None:
        self.lines: defaultdict[int, LineTurns] = defaultdict(LineTurns)
        self.queues: defaultdict[tuple[int, str], _Queue] = defaultdict(_Queue)

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        turns, lanes = self.lines[line], mask.lanes_by_block
        turns.all += mask.warps
        turns.needed += int((-(-lanes // WARP_SIZE)).sum())
        turns.alone += int(np.count_nonzero(lanes == 1))
        turns.by_one_warp += int(np.count_nonzero((lanes > 0) & (lanes <= WARP_SIZE)))

    def access(self, access: Access) -> None:
        """Note how many atomic updates of a warp go to how few elements."""
        if access.kind != "atomic" or access.mask.empty:
            return
        space = access.mask.space
        cells, active = over_same_blocks(access.cell, access.mask)
        named = np.sort(np.where(space.warps_of(active, False), space.warps_of(cells), -1), axis=2)
        fresh = np.diff(named, axis=2, prepend=-1) > 0
        queue, repeats = self.queues[access.line, access.array], space.repeats(cells)
        queue.updates += int(np.count_nonzero(named >= 0)) * repeats
        queue.elements += int(np.count_nonzero(fresh)) * repeats


@dataclass(frozen=True)
class _Branch:
    """A branch or a loop, and whether data, or other threads, decide how long lanes are in it."""

    node: ast.If | ast.For | ast.While
    is_open: bool
    in_loop: bool
    in_branch: bool
    at_edge: bool  # or do only threads beyond the end of an array stay away?
    called: frozenset[ast.stmt]  # statements of the functions that are called there

    @property
    def statements(self) -> list[ast.stmt]:
        """Those inside it, also in the functions that it calls."""
        own = [node for node in ast.walk(self.node) if isinstance(node, ast.stmt)]
        return [*own[1:], *self.called]

    @property
    def lines(self) -> frozenset[int]:
        """The lines inside it."""
        inside = range(self.node.body[0].lineno, (self.node.end_lineno or self.node.lineno) + 1)
        return frozenset(inside).union(statement.lineno for statement in self.called)

    @property
    def loops(self) -> bool:
        """Is there a loop in it?"""
        return any(isinstance(node, ast.For | ast.While) for node in self.statements)

    @property
    def is_short(self) -> bool:
        """A few statements, once, for a part of the lanes, in which nobody waits long."""
        return self.is_brief and not self.node.orelse and len(self.statements) <= SHORT

    @property
    def is_brief(self) -> bool:
        """The same where the other lanes have something else to do meanwhile."""
        once = isinstance(self.node, ast.If) and not self.in_loop and not self.called
        return once and len(self.statements) <= 2 * SHORT and not self.loops


def waiting(notes: WaitNotes, typings: Sequence[Typing], shape: LaunchShape) -> Iterator[Finding]:
    """What is worth a word, as warnings."""
    threads = math.prod(shape.block)
    branches = [branch for typing in typings for branch in _branches(typing)]
    undecided = {line for branch in branches if branch.is_open for line in branch.lines}
    lines = {line: turns for line, turns in notes.lines.items() if line not in undecided}
    every = sum(turns.all for turns in notes.lines.values())
    yield from _idle(typings, shape, every)
    if threads > WARP_SIZE:
        alone = {line: turns.alone for line, turns in lines.items()}
        parted = {line: turns.all - turns.needed for line, turns in lines.items()}
        for branch, turns, _ in _to_blame(branches, parted, max(FEW, PARTED * every)):
            inside = sum(lines[line].all for line in branch.lines if line in lines)
            least = PARTED_BRIEFLY * every if branch.is_brief else 0
            if turns >= max(inside / 3, least) and not branch.at_edge:
                yield _parted_finding(branch, turns / every, parted.get(branch.node.lineno, 0) > 0)
        few = _on_the_way(WAITED_FOR, every, shape)
        entered = [branch for branch in branches if _is_for_few(branch, alone, lines)]
        for branch, turns, line in _to_blame(entered, alone, max(FEW, min(ALONE * every, few))):
            yield _alone_finding(branch, "thread", threads, turns / every, line)
        few = _on_the_way(WAITED_FOR_A_WARP, every, shape)
        one_warp = {line: turns.by_one_warp - turns.alone for line, turns in lines.items()}
        looping = [
            branch
            for branch in branches
            if branch.loops and isinstance(branch.node, ast.If)
            if _is_for_few(branch, one_warp, lines)
        ]
        if threads > MANY_WARPS * WARP_SIZE:
            for branch, turns, line in _to_blame(looping, one_warp, max(FEW, few)):
                yield _alone_finding(branch, "warp", threads // WARP_SIZE, turns / every, line)
    elif threads > 1:
        alone = {line: turns.alone for line, turns in lines.items()}
        entered = [b for b in branches if _is_for_few(b, alone, lines)]
        entered = [b for b in entered if b.loops or not isinstance(b.node, ast.If)]
        for branch, turns, line in _to_blame(entered, alone, max(FEW, ALONE * every)):
            yield _alone_finding(branch, "thread", threads, turns / every, line)
    yield from _queues(notes, {line for typing in typings for line in _exchanges(typing)})


def _on_the_way(share: float, every: float, shape: LaunchShape) -> float:
    """How many turns of single warps take such a share of the time from a block's start to its end.

    As long as one warp works alone, the others wait; otherwise they take turns.
    """
    warps = -(-math.prod(shape.block) // WARP_SIZE)
    part = share / (1 - share)
    return max(LONG * shape.blocks, part * every / (warps + part))


@lru_cache(maxsize=16)
def _branches(typing: Typing) -> tuple[_Branch, ...]:
    """All branches and loops of a function, the innermost first."""
    names = decided_by_data(typing)
    nodes = [
        node
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.If | ast.For | ast.While)
    ]
    looped = {
        inner
        for node in nodes
        if not isinstance(node, ast.If)
        for inner in ast.walk(node)
        if inner is not node
    }
    branched = {inner for node in nodes if isinstance(node, ast.If) for inner in ast.walk(node)}
    return tuple(
        _Branch(
            node,
            typing.is_beside(node) or leaves_by_data(node, typing, names),
            node in looped,
            node in branched,
            is_at_edge(node, typing),
            frozenset(_called(typing, node)),
        )
        for node in reversed(nodes)
    )


def _called(typing: Typing, part: ast.AST) -> Iterator[ast.stmt]:
    """The statements of the functions that a part of one calls."""
    for function, tree in typing.with_called(part):
        if function is not typing:
            inside = ast.walk(tree)
            yield from (node for node in inside if isinstance(node, ast.stmt) and node is not tree)


def _is_for_few(branch: _Branch, few: dict[int, int], lines: Mapping[int, LineTurns]) -> bool:
    """Is it so at the branch's entry? Of a loop that all enter the last one stays alone, too."""
    entry = branch.node.body[0].lineno
    return entry in lines and 2 * few[entry] > lines[entry].all


def _to_blame(
    branches: Sequence[_Branch], lost: dict[int, int], least: float
) -> Iterator[tuple[_Branch, int, int]]:
    """The innermost branches in which turns are lost that are not lost before them.

    Also how many, and the line that loses most.
    """
    left = dict(lost)
    for branch in branches:
        inside = {line: left[line] for line in branch.lines if left.get(line)}
        turns = sum(inside.values())
        comes_later = lost.get(branch.node.lineno, 0) == 0
        # What stands in no branch is reached by few where the others have returned.
        comes_later |= not branch.in_branch and not isinstance(branch.node, ast.If)
        if turns < least or branch.is_open or branch.is_short or not comes_later:
            continue
        yield branch, turns, max(inside, key=lambda line: inside[line])
        for line in inside:
            del left[line]


def _parted_finding(branch: _Branch, share: float, before: bool) -> Finding:
    """Of a branch or a loop that splits warps, or that few lanes reach as others have returned."""
    says = (
        "Only some lanes of the warps reach this {what}. If the threads that reach it were "
        "neighbours, warps would execute {share} % fewer statements in this launch."
        if before
        else "This {what} splits the lanes of the warps. If the threads that enter it were "
        "neighbours, warps would execute {share} % fewer statements in this launch."
    )
    return finding_of(
        "serial-work",
        says,
        branch.node.lineno,
        "Which threads get here? Could they be the first threads of the block?",
        what="branch" if isinstance(branch.node, ast.If) else "loop",
        share=round(100 * share),
    )


def _alone_finding(branch: _Branch, who: str, count: int, share: float, line: int) -> Finding:
    return finding(
        "serial-work",
        say(
            "Only one {who} of the block's {count} executes {what}, and it makes up {share} % "
            "of the statements that warps execute in this launch.",
            what="this branch" if isinstance(branch.node, ast.If) else "this loop",
            who=who,
            count=count,
            share=round(100 * share),
        ),
        branch.node.lineno,
        "Which part of this could every thread do for itself? Which part could all of them share?",
        other_line=line,
    )


def _idle(typings: Sequence[Typing], shape: LaunchShape, every: int) -> Iterator[Finding]:
    """Lanes without a thread, where the size of a block leaves many in each of its warps.

    Few blocks are worth it where they do much that can surely be shared out: sums, and turns of a
    loop of which each stores its own element.
    """
    threads = math.prod(shape.block)
    warps = -(-threads // WARP_SIZE)
    lanes = warps * WARP_SIZE
    if lanes - threads < EMPTY * lanes:
        return
    can_be_shared_out = any(adds_up(typing) or each_for_itself(typing) for typing in typings)
    if warps * shape.blocks < FEW and (every < MUCH or not can_be_shared_out):
        return
    yield finding_of(
        "serial-work",
        "A block of {threads} takes {warps}, so {idle} of {lanes} lanes have nothing to do.",
        typings[0].kernel.tree.lineno,
        "A warp has 32 lanes. Which multiple of 32 suits the work of a block?",
        threads=counted(threads, "thread"),
        warps=counted(warps, "warp"),
        idle=lanes - threads,
        lanes=lanes,
    )


def _exchanges(typing: Typing) -> Iterator[int]:
    """The lines of atomic operations that nobody can put together beforehand, as a lock's."""
    for call, target in typing.calls.items():
        name = ast.unparse(call.func).rpartition(".")[2]
        if isinstance(target, Atomic) and name in ("cas", "compare_and_swap", "exch"):
            yield call.lineno


def _queues(notes: WaitNotes, exchanges: Collection[int]) -> Iterator[Finding]:
    """Atomic updates of a warp that reach one element."""
    for (line, array), queue in notes.queues.items():
        if line in exchanges:
            continue
        if queue.updates - queue.elements < FEW or queue.updates < QUEUE * queue.elements:
            continue
        yield finding_of(
            "serial-work",
            "{updates} atomic updates go to {array}. On average, {queued} of a warp hit "
            "the same element and have to queue.",
            line,
            "Could a warp or a block first add up its own values, so that one thread updates the "
            "element?",
            array=array,
            updates=queue.updates,
            queued=f"{queue.updates / queue.elements:.3g}",
        )
