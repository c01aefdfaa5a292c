"""Cut the film of a tiled product into the phases of one block: load, barrier, multiply, store."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from course_lib.emulator import Kernel
from course_lib.emulator.film import (
    Arithmetic,
    Arrival,
    Film,
    MemoryOperation,
    Moment,
    Passing,
    StartedStatement,
)

Kind = Literal["start", "load", "barrier", "multiply", "store"]
Cell = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Chunk:
    """One statement of some lanes, with everything that happened in it."""

    statement: StartedStatement
    touches: tuple[MemoryOperation, ...]
    flops: int
    passes_barrier: bool
    lanes: np.ndarray

    @property
    def line(self) -> int:
        """The statement's line."""
        return self.statement.line

    def kind(self, output: str) -> Kind | None:
        """Which phase the statement belongs to; None if it belongs to any."""
        did = {(touch.space, touch.kind) for touch in self.touches}
        if self.passes_barrier:
            return "barrier"
        if ("shared", "load") in did:
            return "multiply"
        if any(touch.array == output and touch.kind != "load" for touch in self.touches):
            return "store"
        if ("shared", "store") in did or ("global", "load") in did:
            return "load"
        return None


def chunks(moments: Sequence[Moment], lanes: np.ndarray) -> Iterator[Chunk]:
    """The statements of some lanes, in the order in which they ran."""
    current: list[Moment] = []
    for moment in moments:
        if isinstance(moment, StartedStatement) and current:
            yield from _chunk(current, lanes)
            current = []
        current.append(moment)
    yield from _chunk(current, lanes)


def _chunk(moments: Sequence[Moment], lanes: np.ndarray) -> Iterator[Chunk]:
    if not moments or not isinstance(moments[0], StartedStatement):
        return
    here = np.intersect1d(moments[0].lanes, lanes)
    if not here.size:
        return
    touches = tuple(
        only(moment, lanes) for moment in moments if isinstance(moment, MemoryOperation)
    )
    flops = sum(
        moment.each * np.isin(moment.lanes, lanes).sum()
        for moment in moments
        if isinstance(moment, Arithmetic)
    )
    synced = any(
        isinstance(moment, Passing | Arrival) and np.isin(moment.lanes, lanes).any()
        for moment in moments
    )
    yield Chunk(
        moments[0], tuple(touch for touch in touches if touch.lanes.size), flops, synced, here
    )


def only(touch: MemoryOperation, lanes: np.ndarray) -> MemoryOperation:
    """The part of a memory operation that some lanes did."""
    mine = np.isin(touch.lanes, lanes)
    return replace(
        touch, lanes=touch.lanes[mine], indices=touch.indices[mine], values=touch.values[mine]
    )


@dataclass(eq=False)
class Stage:
    """The block during one phase, and what it holds when the phase is over."""

    kind: Kind  # which phase
    step: int = 0  # how many tiles have been loaded, this one included
    turn: int = 0  # in "multiply" the number of the multiply since the tile was loaded
    lines: set[int] = field(default_factory=set)  # the source lines that ran
    # the elements of A and B that were loaded from global memory in this phase
    fetched: dict[str, set[Cell]] = field(default_factory=dict)
    # the cells of each shared array that were read in this phase
    used: dict[str, set[Cell]] = field(default_factory=dict)
    # the cells of each shared array that were written in this phase
    filled: dict[str, set[Cell]] = field(default_factory=dict)
    # the contents of the shared arrays; NaN where nothing was written yet
    shared: dict[str, np.ndarray] = field(default_factory=dict)
    # each lane's running total; NaN where there is none
    totals: np.ndarray = field(default_factory=lambda: np.empty(0))
    # the elements of C written so far, with their values
    stored: dict[Cell, float] = field(default_factory=dict)
    # loaded, reads, flops: values loaded from global memory, reads from shared memory and
    # floating-point operations of the block so far
    loaded: int = 0
    reads: int = 0
    flops: int = 0
    # the values that the followed lane read from shared memory in this phase
    products: list[float] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Walk:
    """One block's way along K."""

    run: Film  # the film
    names: Sequence[str]  # what the kernel calls A, B and C
    stages: list[Stage]  # the phases in order; the first is the start, before anything happened
    owners: dict[int, Cell]  # for each lane that stored an element of C, which one
    followed: int | None  # the lane whose sum is written out, if any lane stored anything
    accumulator: str  # the name of the running total in the kernel; "" if it could not be told
    lanes: np.ndarray  # the block's lanes

    @property
    def steps(self) -> int:
        """How many tiles were loaded along K."""
        return max(stage.step for stage in self.stages)

    def barrier_after(self, kind: Kind) -> bool:
        """Whether a barrier ever follows a phase of this kind."""
        pairs = zip(self.stages, self.stages[1:], strict=False)
        return any(one.kind == kind and two.kind == "barrier" for one, two in pairs)

    def add(self, part: Chunk, after: Mapping[str, Any]) -> None:
        kind = part.kind(self.names[2])
        if kind is None:
            self._take_totals(after)
            return
        stage = self.stages[-1]
        again = kind == "multiply" and part.line in stage.lines
        if kind != stage.kind or kind == "barrier" or again:
            stage = self._next(kind)
        stage.lines.add(part.line)
        stage.flops += int(part.flops)
        for touch in part.touches:
            self._take(stage, touch)
        self._take_totals(after)

    def _next(self, kind: Kind) -> Stage:
        last = self.stages[-1]
        turn = last.turn + 1 if last.kind == "multiply" and kind == "multiply" else 0
        stage = Stage(
            kind,
            last.step + (kind == "load"),
            turn,
            shared={name: held.copy() for name, held in last.shared.items()},
            totals=last.totals.copy(),
            stored=dict(last.stored),
            loaded=last.loaded,
            reads=last.reads,
            flops=last.flops,
        )
        self.stages.append(stage)
        return stage

    def _take(self, stage: Stage, touch: MemoryOperation) -> None:
        cells = [tuple(int(i) for i in index) for index in touch.indices]
        if touch.space == "global" and touch.kind == "load" and touch.array in self.names[:2]:
            stage.fetched.setdefault(touch.array, set()).update(cells)
            stage.loaded += len(cells)
        elif touch.array == self.names[2] and touch.kind == "store":
            stage.stored.update(zip(cells, touch.values.tolist(), strict=True))
        elif touch.space == "shared" and touch.kind == "load":
            stage.used.setdefault(touch.array, set()).update(cells)
            stage.reads += len(cells)
            mine = touch.lanes == self.followed
            stage.products += touch.values[mine].tolist()
        elif touch.space == "shared" and touch.kind == "store":
            stage.filled.setdefault(touch.array, set()).update(cells)
            for cell, value in zip(cells, touch.values, strict=True):
                stage.shared[touch.array][cell] = value

    def _take_totals(self, variables: Mapping[str, Any]) -> None:
        value = self.run.value(variables, self.accumulator)
        if value is not None:
            self.stages[-1].totals = value[self.lanes].astype(float)


def walk(run: Film, kernel: Kernel, block: tuple[int, int], shapes: dict[str, Cell]) -> Walk:
    """The phases of one block (x, y) of a film in lockstep.

    The kernel's first three parameters are A, B and C; `shapes` are those of its shared arrays.
    """
    names, lanes = kernel.parameters[:3], run.lanes_of(block)
    parts = list(chunks(run.moments, lanes))
    owners = _owners(parts, names[2])
    empty = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    start = Stage("start", shared=empty, totals=np.full(len(lanes), np.nan))
    followed, accumulator = min(owners, default=None), _accumulator(kernel, names[2], run)
    way = Walk(run, names, [start], owners, followed, accumulator, lanes)
    for number, part in enumerate(parts):
        after = parts[number + 1].statement.variables if number + 1 < len(parts) else run.final
        way.add(part, after)
    return way


def _owners(parts: Sequence[Chunk], output: str) -> dict[int, Cell]:
    owners = {}
    for part in parts:
        for touch in part.touches:
            if touch.array == output and touch.kind == "store":
                for lane, index in zip(touch.lanes, touch.indices, strict=True):
                    owners[int(lane)] = tuple(int(i) for i in index)
    return owners


def _accumulator(kernel: Kernel, output: str, run: Film) -> str:
    """The variable that is stored into C in the end: the running total."""
    names = []
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Assign) and _is_element_of(node.targets[0], output):
            names += [part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)]
    for name in names:
        value = run.value(run.final, name)
        if value is not None and value.dtype.kind == "f":
            return name
    return ""


def _is_element_of(target: ast.expr, array: str) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == array
    )
