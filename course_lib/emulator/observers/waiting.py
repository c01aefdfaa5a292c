"""What waits in a launch: lanes for their warp, warps for one thread, updates in a queue.

Where only data decide who works (a loop until something converges, a sparse row), nothing is said:
no other order of the threads is known to be better.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.meter import over_same_blocks
from course_lib.emulator.observers.values_in_text import decided_by_data, leaves_by_data
from course_lib.emulator.options import LaunchShape
from course_lib.emulator.state.lanes import WARP_SIZE, Mask
from course_lib.emulator.state.memory import Access
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

if TYPE_CHECKING:
    from course_lib.emulator.machine.events import Frame

PARTED = 0.1  # of all warps' turns: what neighbours would save, from which it is worth a word
ALONE = 0.1  # of all warps' turns that one thread of a block takes by itself
FEW = 64  # turns or updates: below, a launch is too small to say anything
QUEUE = 4  # updates of a warp to each element
SHORT = 3  # statements that one lane of a warp may do for the others, once


@dataclass
class LineTurns:
    """The turns of warps in a line: all, those that would do, and those of a block's one thread.

    If the threads of a block that work were neighbours, fewer warps would hold them.
    """

    all: int = 0
    needed: int = 0
    alone: int = 0


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
    """A branch or a loop, and whether data decide which lanes go which way."""

    node: ast.If | ast.For | ast.While
    by_data: bool
    in_loop: bool

    @property
    def lines(self) -> range:
        """The lines inside it."""
        return range(self.node.body[0].lineno, (self.node.end_lineno or self.node.lineno) + 1)

    @property
    def is_short(self) -> bool:
        """A few statements, once, in which nobody waits long."""
        statements = [node for node in ast.walk(self.node) if isinstance(node, ast.stmt)]
        loops = any(isinstance(node, ast.For | ast.While) for node in statements)
        return len(statements) <= SHORT + 1 and not loops and not self.in_loop


def waiting(notes: WaitNotes, typings: Sequence[Typing], shape: LaunchShape) -> Iterator[Finding]:
    """What is worth a word, as warnings."""
    threads = int(np.prod(shape.block))
    branches = [branch for typing in typings for branch in _branches(typing)]
    of_data = {line for branch in branches if branch.by_data for line in branch.lines}
    lines = {line: turns for line, turns in notes.lines.items() if line not in of_data}
    every = sum(turns.all for turns in notes.lines.values())
    if threads > WARP_SIZE:
        alone = {line: turns.alone for line, turns in lines.items()}
        parted = {line: turns.all - turns.needed for line, turns in lines.items()}
        for branch, turns, _ in _to_blame(branches, parted, max(FEW, PARTED * every)):
            inside = sum(lines[line].all for line in branch.lines if line in lines)
            if turns >= inside / 3:  # fewer part at the edge of an array, where it has to be
                yield _parted_finding(branch, turns / every)
        for branch, turns, line in _to_blame(branches, alone, max(FEW, ALONE * every)):
            yield _alone_finding(branch, turns / every, line, threads)
    yield from _queues(notes)


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
    return tuple(
        _Branch(node, leaves_by_data(node, typing, names), node in looped)
        for node in reversed(nodes)
    )


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
        if turns < least or branch.by_data or branch.is_short or not comes_later:
            continue
        yield branch, turns, max(inside, key=lambda line: inside[line])
        for line in inside:
            del left[line]


def _parted_finding(branch: _Branch, share: float) -> Finding:
    return finding(
        "serial-work",
        say(
            "{what} parts the lanes of the warps: if the threads that go in were neighbours, "
            "warps would execute {share} % fewer statements in this launch.",
            what="This branch" if isinstance(branch.node, ast.If) else "This loop",
            share=round(100 * share),
        ),
        branch.node.lineno,
        "Which threads go in, and could they be the first ones of the block?",
    )


def _alone_finding(branch: _Branch, share: float, line: int, threads: int) -> Finding:
    return finding(
        "serial-work",
        say(
            "{what} is for one thread of the block's {threads} alone: {share} % of the statements "
            "that warps execute in this launch.",
            what="This branch" if isinstance(branch.node, ast.If) else "This loop",
            threads=threads,
            share=round(100 * share),
        ),
        branch.node.lineno,
        "What of this could each thread do for itself, or all of them step by step?",
        other_line=line,
    )


def _queues(notes: WaitNotes) -> Iterator[Finding]:
    """Atomic updates of a warp that reach one element."""
    for (line, array), queue in notes.queues.items():
        if queue.updates - queue.elements < FEW or queue.updates < QUEUE * queue.elements:
            continue
        yield finding(
            "serial-work",
            say(
                "{updates} atomic updates of {array} reach {elements} elements, counted warp by "
                "warp: those of one element queue.",
                array=array,
                updates=queue.updates,
                elements=queue.elements,
            ),
            line,
            "Could a warp or a block add up first, so that one thread updates the element?",
        )
