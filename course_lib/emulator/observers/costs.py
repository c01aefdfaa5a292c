"""What a launch costs beyond its need: scattered accesses, repeated loads, lanes that wait.

A right kernel has no fault to find, and may still be slow. Whatever is told here was counted, and
stands beside the best count possible for the same accesses. Where only the data decide (a gather, a
histogram's bin, a loop until something converges) no better order is known, and nothing is said.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.meter import Meter, Place, Site, over_same_blocks
from course_lib.emulator.options import LaunchShape
from course_lib.emulator.profile.counters import SECTOR_BYTES
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace
from course_lib.emulator.state.memory import Access, Memory
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

SCATTERED = 2.0  # times the sectors that would do, beside one for a row that starts in mid-sector
REPEATED = 8.0  # times that a block fetches a sector: what neighbouring lines share is far below
SHARE = 0.1  # of all sectors, wavefronts or lanes of the launch, from which a line is worth a word
LOST_LANES = 1 / 3  # of all lanes' turns, from which lanes that wait are
FEW = 64  # sectors, wavefronts or updates: below, a launch is too small to say anything
SMALL_ARRAY = 4096  # bytes that stay in any cache, however often they are read
NEAR = 3  # lines between accesses that may use each other's sectors
SIZES = (".shape", ".strides")


Tree = ast.FunctionDef | ast.Lambda


@dataclass
class _Queue:
    """Atomic updates of one line to one array, and how many elements their warps named."""

    updates: int = 0
    elements: int = 0


@dataclass
class Fetched:
    """What the first block loads of one array.

    Attributes:
        by: the thread that loads each element first, or -1.
        by_others: loads of an element by a thread that is not the one in `by`.
    """

    by: np.ndarray
    by_others: int = 0


class CostNotes(Observer):
    """Notes what the counters leave out: what one block fetches, how lanes lie, who queues."""

    def __init__(self) -> None:
        self.fetched: dict[str, Fetched] = {}
        self.strides: dict[tuple[int, str, str], int] = {}
        self.queues: defaultdict[tuple[int, str], _Queue] = defaultdict(_Queue)
        self._has_first_block = True

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._has_first_block = not any(space.first_block)

    def access(self, access: Access) -> None:
        if access.mask.empty or access.allocation.space == "local":
            return
        if access.kind == "atomic":
            self._queue(access)
            return
        site = (access.line, access.kind, access.array)
        if site not in self.strides:
            self.strides[site] = _stride(*_of_first_block(access))
        if self._has_first_block and access.kind == "load" and access.allocation.space == "global":
            self._fetch(access)

    def _fetch(self, access: Access) -> None:
        cells, active = _of_first_block(access)
        fetched = self.fetched.get(access.array)
        if fetched is None:
            size = access.allocation.storage.size
            fetched = self.fetched[access.array] = Fetched(np.full(size, -1, np.int32))
        threads = np.flatnonzero(active)
        for element in range(access.elements):
            chosen = cells.reshape(-1)[threads] + element
            fetched.by[chosen] = np.where(fetched.by[chosen] < 0, threads, fetched.by[chosen])
            fetched.by_others += int(np.count_nonzero(fetched.by[chosen] != threads))

    def _queue(self, access: Access) -> None:
        """Note how many updates of a warp go to how few elements."""
        space = access.mask.space
        cells, active = over_same_blocks(access.cell, access.mask)
        named = np.sort(np.where(space.warps_of(active, False), space.warps_of(cells), -1), axis=2)
        fresh = np.diff(named, axis=2, prepend=-1) > 0
        queue, repeats = self.queues[access.line, access.array], space.repeats(cells)
        queue.updates += int(np.count_nonzero(named >= 0)) * repeats
        queue.elements += int(np.count_nonzero(fresh)) * repeats


def _of_first_block(access: Access) -> tuple[np.ndarray, np.ndarray]:
    """The cell of each lane of the first block, and whether it takes part; shape (warps, 32)."""
    space = access.mask.space
    cells, active = over_same_blocks(access.cell, access.mask)
    return space.warps_of(cells)[0], space.warps_of(active, False)[0]


def _stride(cells: np.ndarray, active: np.ndarray) -> int:
    """How many elements most lanes lie behind the lane before them; 0 if there is no rule."""
    steps = np.diff(cells, axis=1)[active[:, 1:] & active[:, :-1]]
    if not len(steps):
        return 0
    usual = int(np.median(steps))
    return usual if (steps == usual).mean() > 0.5 else 0


# --- findings -------------------------------------------------------------------------------------


class LaunchCosts:
    """What one launch cost beyond its need, line by line.

    Args:
        trees: the kernel and the device functions that it calls.
        shape: of the launch.
    """

    def __init__(
        self, meter: Meter, notes: CostNotes, trees: Sequence[Tree], shape: LaunchShape
    ) -> None:
        self.meter, self.notes, self.trees = meter, notes, trees
        self.blocks, self.threads = math.prod(shape.grid), math.prod(shape.block)

    def findings(self) -> Iterator[Finding]:
        """All that is worth a word, as warnings."""
        yield from self._scattered()
        yield from self._conflicts()
        yield from self._fetched_again()
        yield from self._lost_lanes()
        yield from self._queues()

    def _scattered(self) -> Iterator[Finding]:
        """Loads and stores whose lanes touch more sectors than would hold what they ask for."""
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
                and not self._by_data(at.line, at.array)
            ):
                yield self._scattered_finding(at, site)

    def _scattered_finding(self, at: Place, site: Site) -> Finding:
        stride = abs(self.notes.strides.get((at.line, at.kind, at.array), 0))
        apart = say("neighbouring lanes are {stride} elements apart", stride=stride)
        load = at.kind == "load"
        return finding(
            "uncoalesced-load" if load else "uncoalesced-store",
            say(
                "{verb} {array} take {sectors} sectors a request, where {least} would hold what "
                "the lanes ask for: {why}.",
                verb="Loads from" if load else "Stores to",
                array=at.array,
                sectors=f"{site.sectors / site.requests:.3g}",
                least=f"{site.least / site.requests:.3g}",
                why=apart if stride > 1 else "neighbouring lanes ask for elements far apart",
            ),
            at.line,
            "Which index does threadIdx.x change, and is it the last one?",
        )

    def _conflicts(self) -> Iterator[Finding]:
        """Accesses to shared memory that are served in more turns than their width needs."""
        sites = [(at, site) for at, site in self.meter.sites.items() if at.space == "shared"]
        total = sum(site.wavefronts for _, site in sites)
        for at, site in sites:
            if site.bank_conflicts < max(FEW, SHARE * total, site.requests / 2):
                continue
            if self._by_data(at.line, at.array):
                continue
            yield finding(
                "bank-conflict",
                say(
                    "{verb} {array} take {wavefronts} wavefronts a request, where {least} would "
                    "do: lanes ask one bank for different words.",
                    array=at.array,
                    verb="Reads of" if at.kind == "load" else "Writes to",
                    wavefronts=f"{site.wavefronts / site.requests:.3g}",
                    least=f"{(site.wavefronts - site.bank_conflicts) / site.requests:.3g}",
                ),
                at.line,
                "How many words apart are neighbouring lanes, and what is that modulo 32?",
            )

    def _fetched_again(self) -> Iterator[Finding]:
        """Arrays that every block loads many times over."""
        total = sum(traffic.load_sectors for traffic in self.meter.arrays.values())
        for array, traffic in self.meter.arrays.items():
            fetched = self.notes.fetched.get(array)
            if fetched is None or fetched.by.size * traffic.dtype.itemsize <= SMALL_ARRAY:
                continue
            elements = np.flatnonzero(fetched.by >= 0)
            sectors = len(np.unique(elements * traffic.dtype.itemsize // SECTOR_BYTES))
            needed, excess = sectors * self.blocks, traffic.load_sectors - sectors * self.blocks
            again = fetched.by_others >= (REPEATED - 1) * len(elements)
            if not again or excess < max(FEW, SHARE * total, (REPEATED - 1) * needed):
                continue
            line = max(traffic.loaded_at, key=lambda number: traffic.loaded_at[number])
            if self._by_data(line, array):
                continue
            yield finding(
                "excess-global-traffic",
                say(
                    "A block loads {sectors} sectors of {array}, of which {needed} are different: "
                    "its threads fetch the same elements again and again.",
                    array=array,
                    sectors=traffic.load_sectors // self.blocks,
                    needed=sectors,
                ),
                line,
                "Which threads of a block read the same elements, and could shared memory hold "
                "them meanwhile?",
            )

    def _queues(self) -> Iterator[Finding]:
        """Atomic updates of a warp that reach one element."""
        for (line, array), queue in self.notes.queues.items():
            waiting = queue.updates - queue.elements
            if waiting < FEW or queue.updates < 4 * queue.elements:
                continue
            yield finding(
                "serial-work",
                say(
                    "{updates} atomic updates of {array} reach {elements} elements, counted warp "
                    "by warp: those of one element queue.",
                    array=array,
                    updates=queue.updates,
                    elements=queue.elements,
                ),
                line,
                "Could a warp or a block add up first, so that one thread updates the element?",
            )

    # -- lanes that wait ---------------------------------------------------------------------------

    def _lost_lanes(self) -> Iterator[Finding]:
        """Branches and loops in which part of a warp's lanes wait for the others."""
        warps = -(-self.threads // WARP_SIZE)
        lanes = self.threads / warps  # that a warp has, on average
        lost = {
            line: max(0.0, lanes * counters.executed - counters.active_lanes)
            for line, counters in self.meter.lines.items()
        }
        turns = lanes * sum(counters.executed for counters in self.meter.lines.values())
        for branch in self._branches():
            for line in branch.lines if branch.by_data else ():
                lost.pop(line, None)
        for branch in self._branches():  # the innermost first: it accounts for what is told
            inside = sum(lost.get(line, 0.0) for line in branch.lines)
            if not branch.by_data and inside >= max(LOST_LANES * turns, WARP_SIZE * FEW):
                yield self._lost_finding(branch, inside / turns)
                for line in branch.lines:
                    lost.pop(line, None)

    def _branches(self) -> Iterator[_Branch]:
        """All branches and loops, the innermost first."""
        for tree in self.trees:
            names = _decided_by_data(tree)
            nodes = [
                node for node in ast.walk(tree) if isinstance(node, ast.If | ast.For | ast.While)
            ]
            for node in reversed(nodes):
                yield _Branch(node, _is_left_by_data(node, names))

    def _lost_finding(self, branch: _Branch, share: float) -> Finding:
        lines = [self.meter.lines[n] for n in branch.lines if n in self.meter.lines]
        lanes = sum(each.active_lanes for each in lines) / max(1, sum(e.executed for e in lines))
        what = "this branch" if isinstance(branch.node, ast.If) else "this loop"
        return finding(
            "serial-work",
            say(
                "Under {what}, {lanes} lanes of a warp work on average while the others wait: that "
                "is {share} % of all lanes' turns in this launch.",
                what=what,
                lanes=f"{lanes:.3g}",
                share=round(100 * share),
            ),
            branch.node.lineno,
            "Could the threads that work here be neighbours, so that whole warps work or none?",
        )

    def _by_data(self, line: int, array: str) -> bool:
        """Does what was loaded decide which element of an array a line accesses?"""
        for tree in self.trees:
            if not tree.lineno <= line <= (tree.end_lineno or line):
                continue
            by_data = _decided_by_data(tree)
            found = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Subscript) and node.lineno <= line <= (node.end_lineno or 0)
            ]
            named = [node for node in found if ast.unparse(node.value) == array]
            return any(_is_by_data(node.slice, by_data) for node in named or found)
        return True


@dataclass(frozen=True)
class _Branch:
    """A branch or a loop, and whether data decide which lanes go which way."""

    node: ast.If | ast.For | ast.While
    by_data: bool

    @property
    def lines(self) -> range:
        """The lines inside it."""
        return range(self.node.body[0].lineno, (self.node.end_lineno or self.node.lineno) + 1)


def _is_left_by_data(node: ast.If | ast.For | ast.While, names: set[str]) -> bool:
    """Do data decide whether a lane goes in, or when it leaves a loop?"""
    if _is_by_data(node.iter if isinstance(node, ast.For) else node.test, names):
        return True
    return not isinstance(node, ast.If) and any(
        isinstance(leaving, ast.Break | ast.Continue | ast.Return)
        for branch in ast.walk(node)
        if isinstance(branch, ast.If) and _is_by_data(branch.test, names)
        for leaving in ast.walk(branch)
    )


def _decided_by_data(tree: Tree) -> set[str]:
    """The variables that follow from what was loaded from an array."""
    names: set[str] = set()
    while True:
        found = {
            target.id
            for node in ast.walk(tree)
            for value, targets in _assigned(node)
            if _is_by_data(value, names)
            for target in targets
            if isinstance(target, ast.Name)
        }
        if found <= names:
            return names
        names |= found


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The value and the targets of a statement that sets variables."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield node.value, list(target.elts) if isinstance(target, ast.Tuple) else [target]
    elif isinstance(node, ast.AugAssign | ast.NamedExpr):
        yield node.value, [node.target]
    elif isinstance(node, ast.For):
        yield node.iter, [node.target]


def _is_by_data(value: ast.expr, by_data: set[str]) -> bool:
    """Does an expression follow from an element of an array?"""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in by_data:
            return True
        if isinstance(node, ast.Subscript) and not ast.unparse(node.value).endswith(SIZES):
            return True
        if isinstance(node, ast.Call) and ".atomic." in ast.unparse(node.func):
            return True
    return False


# --- where float64 comes from ---------------------------------------------------------------------


def float64_sources(typings: Sequence[Typing], lines: set[int]) -> set[int]:
    """Of the lines that compute in float64, those that would do so whatever the others did.

    `x = 2.0 * a[i]` is one; `y = x + a[j]` is not: with a float32 x it computes in float32.
    """
    sources = set()
    for typing in typings:
        inherited = _inherited(typing, lines)
        for node in ast.walk(typing.kernel.tree):
            if getattr(node, "lineno", 0) in lines and _makes_float64(node, typing, inherited):
                sources.add(node.lineno)  # type: ignore[attr-defined]
    return sources or lines


def _inherited(typing: Typing, lines: set[int]) -> set[str]:
    """Variables that are float64 only because a line that computes in float64 sets them."""
    by_line: defaultdict[str, set[int]] = defaultdict(set)
    for node in ast.walk(typing.kernel.tree):
        for _, targets in _assigned(node):
            for target in targets:
                if isinstance(target, ast.Name):
                    by_line[target.id].add(target.lineno)
    parameters = set(typing.kernel.parameters)
    return {name for name, at in by_line.items() if at <= lines and name not in parameters}


def _makes_float64(node: ast.AST, typing: Typing, inherited: set[str]) -> bool:
    """Is this an operator or a call that gives float64, and not by such a variable?"""
    if isinstance(node, ast.AugAssign):
        parts: list[ast.expr] = [node.target, node.value]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call):
        parts = node.args
    else:
        return False
    if not isinstance(node, ast.AugAssign) and typing.types.get(node) != T.FLOAT64:
        return False
    double = [part for part in parts if typing.types.get(part) == T.FLOAT64]
    named = [part for part in double if isinstance(part, ast.Name) and part.id in inherited]
    computed = [part for part in double if isinstance(part, ast.BinOp | ast.Call)]
    if isinstance(node, ast.AugAssign):
        return len(double) > len(named) + len(computed)
    return len(double) > len(named) + len(computed) or not double
