"""The SIMT machine: walks a typed kernel once for many lanes at a time.

Control flow is a matter of masks: both sides of a divergent `if` are walked, each with its own
lanes active. Expressions become NumPy operations on arrays of lanes. The machine computes and
keeps order; what an access costs and whether it races is for its observers to say.

Blocks of statements are generators: at a barrier they yield, and whoever drives the machine goes on
with it when all have arrived (`schedule.py`). So several machines can take turns, without threads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.budget import BudgetExceeded, OpenLoop, StepCounter
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import Scope
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.async_copies import AsyncCopies
from course_lib.emulator.machine.engine import Engine, Waiting
from course_lib.emulator.machine.events import (
    Frame,
    MetValues,
    RunningLoop,
)
from course_lib.emulator.machine.given_values import GivenToLaunch
from course_lib.emulator.machine.load_store import LoadStoreUnit, as_dtype
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView


@dataclass(frozen=True)
class Pause:
    """Where the active lanes wait."""

    line: int  # of the barrier or of the loop
    # for whom: their "block", the "grid", or "others", of whom a loop wants to see an atomic
    # operation, and which only have to be given a turn
    scope: Scope
    awaited: Sequence[Waiting] = ()  # at which barriers of the engine, if it is for those


# What runs statements: it yields at every barrier at which the active lanes arrive.
Steps = Generator[Pause, None, None]
# What evaluates one expression, and what makes that of it and of its types.
Prepared = Callable[["Machine"], Any]
Prepare = Callable[[Typing, ast.expr], Prepared]
DOUBLE = (T.FLOAT64, T.COMPLEX128)
LOCKS = (".atomic.cas", ".atomic.exch", ".atomic.compare_and_swap")  # by which a lane takes one


class Machine:
    """Runs one kernel for the lanes of one space, which is that of its engine.

    `run_block` runs statements, and `prepared` makes a function of an expression. Each kind of
    either has a room of its own, and all hold others: here they meet.
    """

    def __init__(
        self,
        typing: Typing,
        given: GivenToLaunch,
        active: Mask,
        steps: StepCounter,
        engine: Engine,
        run_block: Callable[[Machine, Sequence[ast.stmt]], Steps],
        prepared: Prepare,
    ) -> None:
        self._run_block = run_block
        self.prepared = prepared
        self.space, self.memory, self.observers = engine.space, engine.memory, engine.observers
        space, observers = engine.space, engine.observers
        self.active, self.engine = active, engine
        self.steps, self.budget = steps, steps.budget
        self.dynamic_shared_bytes, self.cluster = given.dynamic_shared_bytes, given.cluster
        self.given, self.captured, self.products = given, given.captured, given.products
        self.is_alone = active.array is None  # no other machine runs lanes of this space
        self.unit = LoadStoreUnit(engine, steps, given)
        self.copies = AsyncCopies(self.unit, active)
        self.line = typing.kernel.tree.lineno
        self.counts_flops = "flops" in observers.heard
        self.notes_limits = "limit" in observers.heard
        self.is_debugged = typing.kernel.is_debugged
        self.nobody = Mask.of(space, np.False_)
        self.ended = self.nobody
        self._step_cost = steps.budget.cost_for(space.size)
        self.open_loops: list[RunningLoop] = []  # of all functions, the innermost last
        self.most_turns: dict[ast.stmt, int] = {}  # of each loop that has ended
        self.statement: ast.stmt | None = None
        self.constant_views: dict[int, ArrayView] = {}
        variables = dict(zip(typing.kernel.parameters, given.arguments, strict=True))
        self.frame = Frame(typing, variables, active)

    @property
    def typing(self) -> Typing:
        """The types of the function that is running."""
        return self.frame.typing

    def run(self) -> Steps:
        """Run the kernel to its end, with a pause at every barrier.

        Raises BudgetExceeded if the steps do not suffice.
        """
        try:
            yield from self.block(self.frame.typing.kernel.body)
        except BudgetExceeded as stop:
            stop.loop = stop.loop or self.loop_without_end()
            raise

    def loop_without_end(self) -> OpenLoop | None:
        """The loop that does not come to an end.

        The innermost one that turned more than it ever took to end, and clearly: a loop that ends
        each time, if a bit later, only takes part in the one around it.
        """
        loops = self.open_loops
        for loop in [*reversed(loops), *loops[:1]]:
            longest = self.most_turns.get(loop.node, 0)
            if loop.turns > 2 * longest or loop is loops[0]:
                return self.as_open(loop)
        return None

    def as_open(self, loop: RunningLoop) -> OpenLoop:
        """A loop that the launch does not come out of."""
        ends = isinstance(loop.node, ast.For)
        return OpenLoop(loop.node.lineno, loop.turns, ends, _is_for_lock(loop.node))

    # -- statements -------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> Steps:
        """Run statements for the active lanes until none is left active."""
        return self._run_block(self, body)

    def spend(self, statement: ast.stmt) -> None:
        """Pay for a statement, or for one more turn of a loop."""
        typing = self.frame.typing
        weight = typing.weights.get(statement) or typing.weight(statement)
        self.steps.spend(self._step_cost * weight, statement.lineno)

    def condition(self, test: ast.expr) -> Value:
        """The truth of a test, counted as a branch."""
        truth = self.truth(self.evaluate(test))
        self.frame.settled.clear()
        self.observers.branch(test.lineno, truth, self.active)
        return truth

    def truth(self, value: Value) -> Value:
        return value if value.dtype == T.BOOL else value != 0

    def rejoin(self, before: Mask, parts: Sequence[Mask]) -> Mask:
        """The union of disjoint parts; `before` itself if no lane was lost on the way."""
        lanes = sum(part.lanes for part in parts)
        if lanes == before.lanes:
            return before
        if lanes == self.frame.live.lanes:
            return self.frame.live
        whole = self.nobody
        for part in parts:
            whole = whole.union(part)
        return whole

    def cluster_block(self, lane: int, rank: int) -> int:
        """The block of this rank in a lane's cluster, by its number in the space."""
        block = lane // self.space.block_size
        return block - block % self.space.blocks[2] % self.cluster + rank

    def array_item(self, view: ArrayView, place: int) -> Any:
        """An element of an array with one axis, a row of one with more."""
        index = np.int64(place)
        if len(view.shape) == 1 and not view.allocation.dtype.names:
            return self.load(view, [index])
        return self.unit.part(view, [index], self.active, self.line)[0]

    def raise_exception(self, what: str, failed: Mask, line: int) -> None:
        """Some lanes raise an exception: they end, and only under debug=True is it known why."""
        if self.is_debugged:
            self.observers.raised(what, failed, line)
        self.end(failed)

    def end(self, lanes: Mask) -> None:
        """These lanes run no more, also in the functions that called this one."""
        self.ended = self.ended.union(lanes)
        self.frame.live = self.frame.live.without(lanes)
        self.active = self.active.without(lanes)

    # -- expressions ------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression for the active lanes; other lanes may hold anything."""
        return self.prepared(self.frame.typing, node)(self)

    def convert(self, value: Any, dtype: T.Type) -> Any:
        """`value` as `dtype`, if it is a number and not of that type already."""
        if isinstance(dtype, np.dtype):
            return as_dtype(value, dtype)
        if isinstance(dtype, T.TupleType):
            return tuple(self.convert(v, t) for v, t in zip(value, dtype.items, strict=True))
        return value

    def number_type(self, node: ast.expr) -> np.dtype:
        """The type of an expression that is a number."""
        dtype = self.typing.types[node]
        assert isinstance(dtype, np.dtype)
        return dtype

    def as_typed(self, node: ast.expr, value: Any) -> Value:
        """What was computed for an expression, in the type that it has."""
        result: Value = self.convert(value, self.typing.types[node])
        return result

    def meet_limit(self, *met: Any) -> None:
        """Tell that two values meet, the fields of `MetValues`."""
        if self.notes_limits:
            self.observers.limit(MetValues(*met), self.frame.path, self.active)

    def count_flops(self, node: ast.AST, dtype: np.dtype, each_lane: int) -> None:
        """Count floating-point operations of a function such as math.sqrt."""
        if each_lane and dtype.kind in "fc":
            active = self.active
            count = each_lane * active.lanes
            self.observers.flops(node.lineno, active, count, dtype in DOUBLE, True)  # type: ignore[attr-defined]

    def still_running(self, lanes: Mask) -> Mask:
        """Those of the lanes that no exception has ended."""
        return lanes if self.ended is self.nobody else lanes.without(self.ended)

    # -- memory -----------------------------------------------------------------------------

    def load(self, view: ArrayView, indices: Sequence[Value]) -> Value:
        """Read one element for each active lane."""
        return self.unit.load(view, indices, self.active, self.line)

    def store(self, view: ArrayView, indices: Sequence[Value], value: Value) -> None:
        """Write one element for each active lane."""
        self.unit.store(view, indices, value, self.active, self.line)

    # -- barriers ---------------------------------------------------------------------------

    def wait(self, line: int, scope: Scope) -> Steps:
        """Wait at a barrier with the active lanes."""
        self.observers.arrived(line, self.active)
        yield Pause(line, scope)
        self.unit.interval += 1
        self.observers.passed(line, self.active)


def _is_for_lock(loop: ast.For | ast.While) -> bool:
    """Does a loop turn until an atomic exchange gives it a lock?"""
    return isinstance(loop, ast.While) and any(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(LOCKS)
        for node in ast.walk(loop.test)
    )
