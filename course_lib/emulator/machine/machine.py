"""The SIMT machine: walks a typed kernel once for many lanes at a time.

Control flow is a matter of masks: both sides of a divergent `if` are walked, each with its own
lanes active. Expressions become NumPy operations on arrays of lanes. The machine computes and
keeps order; what an access costs and whether it races is for its observers to say.

Blocks of statements are generators: at a barrier they yield, and whoever drives the machine goes on
with it when all have arrived. So several machines can take turns, without threads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import (
    MAX_DEPTH_OF_CALLS,
    Budget,
    BudgetExceeded,
    OpenLoop,
    StepCounter,
)
from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, Cast, Intrinsic
from course_lib.emulator.functions.iteration import ItemsInTurn, items_of
from course_lib.emulator.inference.binding import Slot
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import DeviceArray, Reference
from course_lib.emulator.machine.async_copies import AsyncCopies
from course_lib.emulator.machine.events import Kind, Observers
from course_lib.emulator.machine.frames import Frame, RunningLoop
from course_lib.emulator.machine.instead import Instead
from course_lib.emulator.machine.load_store import (
    AtomicUpdate,
    LoadStoreUnit,
    as_dtype,
)
from course_lib.emulator.machine.operators import (
    COMPARISONS,
    COMPLEX_FLOPS,
    OPERATORS,
    UNARY,
    WRAPS,
)
from course_lib.emulator.machine.prepared import element_parts, prepared
from course_lib.emulator.machine.records import (
    copy_record,
    read_field,
    store_field,
    update_field,
)
from course_lib.emulator.machine.waiting import Steps, settle
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import (
    Allocation,
    ArrayView,
    Fault,
    Memory,
    contiguous_strides,
    poison,
)
from course_lib.sentences import say


class Machine:
    """Runs one kernel for the lanes of one space.

    Args:
        space: the lanes.
        memory: the shared and local memory of their blocks.
        typing: the kernel and its types.
        arguments: the value of each parameter: a NumPy scalar, an ArrayView or a tuple.
        active: the lanes to run.
        observers: who is told what happens.
        steps: what may be spent.
        dynamic_shared_bytes: size of the dynamic shared memory of a block.
        instead: what stands for values that nobody wrote, in a launch that tries that out.
        captured: the devices' arrays that the kernel finds outside.
    """

    def __init__(
        self,
        space: LaneSpace,
        memory: Memory,
        typing: Typing,
        arguments: Sequence[Any],
        active: Mask,
        observers: Observers,
        steps: StepCounter,
        budget: Budget,
        dynamic_shared_bytes: int = 0,
        instead: Instead | None = None,
        captured: Mapping[DeviceArray, ArrayView] | None = None,
    ) -> None:
        self.space = space
        self.memory = memory
        self.active = active
        self.observers = observers
        self.steps = steps
        self.budget = budget
        self.dynamic_shared_bytes = dynamic_shared_bytes
        self.instead = instead
        self.captured = captured or {}
        self.unit = LoadStoreUnit(space, memory, observers, steps, instead)
        self.copies = AsyncCopies(self.unit, active)
        self.line = typing.kernel.tree.lineno
        self.counts_flops = "flops" in observers.heard
        self._notes_limits = "limit" in observers.heard
        self._is_debugged = typing.kernel.is_debugged
        self._nobody = Mask.of(space, np.False_)
        self._ended = self._nobody
        self._step_cost = budget.cost_for(space.size)
        self._open_loops: list[RunningLoop] = []  # of all functions, the innermost last
        self._most_turns: dict[ast.stmt, int] = {}  # of each loop that has ended
        self._statement: ast.stmt | None = None
        self._constant_views: dict[int, ArrayView] = {}
        variables = dict(zip(typing.kernel.parameters, arguments, strict=True))
        self.frame = Frame(typing, variables, active)
        self._run_statement = {kind: getattr(self, name) for kind, name in _STATEMENTS.items()}
        self._evaluate = {kind: getattr(self, name) for kind, name in _EXPRESSIONS.items()}

    @property
    def typing(self) -> Typing:
        """The types of the function that is running."""
        return self.frame.typing

    def run(self) -> Steps:
        """Run the kernel to its end, with a pause at every barrier.

        Raises:
            BudgetExceeded: if the steps do not suffice.
        """
        try:
            yield from self.block(self.frame.typing.kernel.body)
        except BudgetExceeded as stop:
            stop.loop = self._loop_without_end()
            raise

    def _loop_without_end(self) -> OpenLoop | None:
        """The loop that used up the steps.

        The innermost one that turned more than it ever took to end, and clearly: a loop that ends
        each time, if a bit later, only takes part in the one around it.
        """
        loops = self._open_loops
        for loop in [*reversed(loops), *loops[:1]]:
            longest = self._most_turns.get(loop.node, 0)
            if loop.turns > 2 * longest or loop is loops[0]:
                ends = isinstance(loop.node, ast.For)
                return OpenLoop(loop.node.lineno, loop.turns, ends)
        return None

    # -- statements -------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> Steps:
        """Run statements for the active lanes until none is left active."""
        for statement in body:
            if self.active.empty:
                return
            self.line = statement.lineno
            self.spend(statement)
            self.observers.statement(statement.lineno, self.active, self.frame)
            self._statement = statement
            kind = type(statement)
            if kind in _WITH_BLOCKS:
                yield from self._run_statement[kind](statement)
            elif statement in self.frame.typing.waiting:
                yield from settle(self, statement)
                self._run_statement[kind](statement)
                self.frame.settled.clear()
            else:
                self._run_statement[kind](statement)

    def spend(self, statement: ast.stmt) -> None:
        """Pay for a statement, or for one more turn of a loop."""
        typing = self.frame.typing
        weight = typing.weights.get(statement) or typing.weight(statement)
        self.steps.spend(self._step_cost * weight, statement.lineno)

    def assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind(target, value)

    def annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give `value` to a name, an element, or a tuple of them."""
        if isinstance(target, ast.Name):
            self.set_variable(target.id, value)
        elif target in self.frame.typing.fields:
            store_field(self, target, value)  # type: ignore[arg-type]
        elif isinstance(target, ast.Subscript):
            view, indices = self.element(target, "store")
            if view.allocation.dtype.names:
                return copy_record(self, self._element(view, indices, "store"), value)
            parts = self.frame.typing.parts
            if parts and target in parts:
                self.fill(target, view, indices, value)
            else:
                self.store(view, indices, value)
        else:
            targets: list[ast.expr] = target.elts  # type: ignore[attr-defined]
            items = self._unpacked(value, len(targets)) if isinstance(value, ArrayView) else value
            for each, item in zip(targets, items, strict=True):
                self.bind(each, item)

    def _unpacked(self, view: ArrayView, count: int) -> list[Any]:
        """The items of an array, all before any is stored; so many, or there is a ValueError."""
        self._of_one_length(self.line, view.shape[0], count, self.active)
        return [self.array_item(view, place) for place in range(count)]

    def set_variable(self, name: str, value: Any) -> None:
        frame, active = self.frame, self.active
        old = frame.variables.get(name)
        # Where every lane that could read the old value gets the new one, nothing is merged.
        replaces_all = active is frame.live or active is frame.assigned_under.get(name)
        merges = isinstance(value, np.ndarray | np.generic | tuple | ArrayView)
        if old is None or replaces_all or not merges:
            frame.variables[name] = value
            if old is None:
                frame.assigned_under[name] = active
        else:
            frame.variables[name] = self._merged(value, old)
            frame.assigned_under.pop(name, None)
        known = frame.defined.get(name)
        if known is not active:
            frame.defined[name] = active if known is None else known.union(active)

    def _merged(self, new: Any, old: Any) -> Any:
        """`new` for the active lanes and `old` for the others; of a tuple, item by item."""
        if isinstance(new, tuple):
            if not isinstance(old, tuple) or len(new) != len(old):
                return new
            self.steps.spend(len(new) // 8, self.line)
            return tuple(self._merged(one, other) for one, other in zip(new, old, strict=True))
        if isinstance(new, np.ndarray | np.generic) and isinstance(old, np.ndarray | np.generic):
            return np.where(self._active_array(), new, old)
        if isinstance(new, ArrayView) and isinstance(old, ArrayView):
            return _one_view(self._active_array(), new, old, self.line)
        return new

    def _active_array(self) -> np.ndarray | np.bool_:
        return np.True_ if self.active.array is None else self.active.array

    def augmented_assign(self, node: ast.AugAssign) -> None:
        if node.target in self.frame.typing.fields:
            update_field(self, node, node.target)  # type: ignore[arg-type]
        elif isinstance(node.target, ast.Subscript):
            view, indices = self.element(node.target, "load")
            current = self._old_value(node.target, view, indices)
            self.store(view, indices, self.operate(node, current, self.evaluate(node.value)))
        else:
            current = self.evaluate(node.target)
            result = self.operate(node, current, self.evaluate(node.value))
            assert isinstance(node.target, ast.Name)  # inference has refused the others
            self.set_variable(node.target.id, result)

    def _old_value(self, target: ast.Subscript, view: ArrayView, indices: list[Value]) -> Value:
        """What `target += …` adds to: read before the right-hand side is worked out."""
        settled = self.frame.settled
        return settled[target] if target in settled else self.load(view, indices)

    def if_statement(self, node: ast.If) -> Steps:
        if node.test in self.typing.waiting:
            yield from settle(self, node.test)
        condition = self.condition(node.test)
        before = self.active  # a call in the test may have ended some
        taken = before.where(condition)
        if taken is before or taken.lanes == before.lanes:
            yield from self.block(node.body)
        elif taken.empty:
            yield from self.block(node.orelse)
        else:
            other = before.without(taken)
            self.active = taken
            yield from self.block(node.body)
            after_body = self.active
            self.active = other
            yield from self.block(node.orelse)
            self.active = self.rejoin(before, [after_body, self.active])

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
        whole = self._nobody
        for part in parts:
            whole = whole.union(part)
        return whole

    def while_statement(self, node: ast.While) -> Steps:
        before = self.active
        loop = self._open_loop(node)
        left: list[Mask] = []
        while not self.active.empty:
            self.spend(node)
            self.line = node.lineno
            if node.test in self.typing.waiting:
                yield from settle(self, node.test)
            condition = self.condition(node.test)
            staying = self.active.where(condition)
            if staying is not self.active:
                left.append(self.active.without(staying))
            self.active = staying
            yield from self._one_round(node.body, loop)
        yield from self._leave_loop(before, left, loop)

    def _open_loop(self, node: ast.For | ast.While) -> RunningLoop:
        loop = RunningLoop(node)
        self.frame.loops.append(loop)
        self._open_loops.append(loop)
        self.observers.enter_loop(node, self.frame.path)
        return loop

    def for_statement(self, node: ast.For) -> Steps:
        if node.iter in self.typing.waiting:
            yield from settle(self, node.iter)
        iterated, kind = self.evaluate(node.iter), self.typing.types[node.iter]
        self.frame.settled.clear()
        before = self.active
        loop = self._open_loop(node)
        left: list[Mask] = []
        if isinstance(kind, T.TupleType):
            yield from self._for_items(node, loop, iterated)
        elif not isinstance(kind, T.RangeType):
            items = items_of(self, kind, iterated)
            yield from self._for_places(node, loop, left, items)
        elif not any(bound.ndim for bound in iterated):
            yield from self._for_uniform(node, loop, *iterated)
        else:
            yield from self._for_lanes(node, loop, left, *iterated)
        left.append(self.active)
        yield from self._leave_loop(before, left, loop)

    def _for_places(
        self, node: ast.For, loop: RunningLoop, left: list[Mask], items: ItemsInTurn
    ) -> Steps:
        """A loop over places 0, 1, …: each lane leaves when its own items are at an end."""
        assert items.count is not None  # of enumerate's two parts, one has an end
        loop.count = int(np.max(items.count))
        for place in range(loop.count + 1):
            self.spend(node)
            self.line = node.lineno
            inside = np.int64(place) < items.count
            self.observers.branch(node.lineno, inside, self.active)
            staying = self.active.where(inside)
            if staying is not self.active:
                left.append(self.active.without(staying))
            self.active = staying
            if self.active.empty:
                return
            self.bind(node.target, items.item(self, place))
            yield from self._one_round(node.body, loop)

    def array_item(self, view: ArrayView, place: int) -> Any:
        """An element of an array with one axis, a row of one with more."""
        index = np.int64(place)
        if len(view.shape) == 1:
            return self._element(view, [index])
        return self.unit.part(view, [index], self.active, self.line)[0]

    def _for_items(self, node: ast.For, loop: RunningLoop, items: tuple[Any, ...]) -> Steps:
        loop.count = len(items)
        for item in items:
            if self.active.empty:
                return
            self.bind(node.target, item)
            yield from self._one_round(node.body, loop)

    def _for_uniform(
        self, node: ast.For, loop: RunningLoop, start: Value, stop: Value, step: Value
    ) -> Steps:
        if step == 0:
            return
        number = start.dtype.type
        numbers = range(int(start), int(stop), int(step))
        loop.count = len(numbers)
        for index in numbers:
            if self.active.empty:
                return
            self.spend(node)
            self.line = node.lineno
            self.observers.branch(node.lineno, np.True_, self.active)
            self.bind(node.target, number(index))
            yield from self._one_round(node.body, loop)
        self.observers.branch(node.lineno, np.False_, self.active)

    def _for_lanes(
        self,
        node: ast.For,
        loop: RunningLoop,
        left: list[Mask],
        start: Value,
        stop: Value,
        step: Value,
    ) -> Steps:
        """A loop whose bounds differ between lanes: each lane leaves when its own range ends."""
        index = start
        loop.count = int(np.max((stop - start + step - np.sign(step)) // step, initial=0))
        while not self.active.empty:
            self.spend(node)
            self.line = node.lineno
            inside = np.where(step > 0, index < stop, (step < 0) & (index > stop))
            self.observers.branch(node.lineno, inside, self.active)
            staying = self.active.where(inside)
            if staying is not self.active:
                left.append(self.active.without(staying))
            self.active = staying
            if self.active.empty:
                return
            self.bind(node.target, index)
            yield from self._one_round(node.body, loop)
            index = index + step

    def _one_round(self, body: Sequence[ast.stmt], loop: RunningLoop) -> Steps:
        """Run a loop's body once; lanes at `continue` take part in the next round."""
        before, outside = self.active, self.unit.moment
        loop.turns += 1
        self.unit.moment = (*outside, body[0].lineno, loop.turns)
        yield from self.block(body)
        self.unit.moment = outside
        self.observers.end_turn()
        if loop.continued:
            self.active = self.rejoin(before, [self.active, *loop.continued])
            loop.continued = []

    def _leave_loop(self, before: Mask, left: Sequence[Mask], loop: RunningLoop) -> Steps:
        node = loop.node
        self.frame.loops.pop()
        self._open_loops.pop()
        self._most_turns[node] = max(loop.turns, self._most_turns.get(node, 0))
        self.observers.leave_loop(max(loop.turns, loop.count))
        self.active = self.rejoin(before, left)
        if node.orelse and not self.active.empty:
            yield from self.block(node.orelse)
        if loop.broken:
            self.active = self.rejoin(before, [self.active, *loop.broken])

    def break_statement(self, node: ast.Break) -> None:
        self.frame.loops[-1].broken.append(self.active)
        self.active = self._nobody

    def continue_statement(self, node: ast.Continue) -> None:
        self.frame.loops[-1].continued.append(self.active)
        self.active = self._nobody

    def return_statement(self, node: ast.Return) -> None:
        frame = self.frame
        if node.value is not None:
            value = self.evaluate(node.value)
            frame.result = value if frame.result is None else self._merged(value, frame.result)
        frame.live = frame.live.without(self.active)
        self.active = self._nobody

    def expression_statement(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def nothing(self, node: ast.stmt) -> None:
        """`pass` or a definition."""

    def raise_statement(self, node: ast.Raise) -> None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        self._raise(ast.unparse(raised) if raised else "an exception", self.active, node.lineno)

    def assert_statement(self, node: ast.Assert) -> None:
        holds = self.condition(node.test)
        failed = self.active.where(~holds)
        if not failed.empty:
            self._raise("AssertionError", failed, node.lineno)

    def _raise(self, what: str, failed: Mask, line: int) -> None:
        """Some lanes raise an exception: they end, and only under debug=True is it known why."""
        if self._is_debugged:
            self.observers.raised(what, failed, line)
        self.end(failed)

    def end(self, lanes: Mask) -> None:
        """These lanes run no more, also in the functions that called this one."""
        self._ended = self._ended.union(lanes)
        self.frame.live = self.frame.live.without(lanes)
        self.active = self.active.without(lanes)

    # -- expressions ------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression for the active lanes; other lanes may hold anything."""
        frame = self.frame
        if frame.settled and node in frame.settled:
            return frame.settled[node]
        return prepared(frame.typing, node)(self)

    def evaluate_slowly(self, node: ast.expr) -> Any:
        """The value of an expression of a kind that is not prepared, part by part."""
        return self._evaluate[type(node)](node)

    def convert(self, value: Any, dtype: T.Type) -> Any:
        """`value` as `dtype`, if it is a number and not of that type already."""
        if isinstance(dtype, np.dtype):
            return as_dtype(value, dtype)
        if isinstance(dtype, T.TupleType):
            return tuple(self.convert(v, t) for v, t in zip(value, dtype.items, strict=True))
        return value

    def array_constant(self, array: np.ndarray) -> ArrayView:
        if id(array) not in self._constant_views:
            flat = np.ascontiguousarray(array).reshape(-1)
            allocation = Allocation(
                "constant", "constant", array.shape, array.dtype, flat, 0, writable=False
            )
            lengths = tuple(np.int64(length) for length in array.shape)
            view = ArrayView("constant", allocation, lengths, contiguous_strides(array.shape))
            self._constant_views[id(array)] = view
        return self._constant_views[id(array)]

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        frame: Frame | None = self.frame
        while frame is not None and node.id not in frame.variables:
            frame = None if frame.typing.levels else frame.parent
        if frame is None:
            return self._without_value(node)
        value = frame.variables[node.id]
        if node in self.typing.uncertain:
            value = self._where_defined(frame, node, value)
        return self.convert(value, self.typing.types[node])

    def _without_value(self, node: ast.Name) -> Any:
        """A name that no lane has set: a module, a function, or a variable set on other paths."""
        kind = self.typing.types[node]
        if isinstance(kind, T.Static):
            return None  # the typing knows what it is
        value = self._undefined(node, kind, self.active)
        if value is None:
            raise rejection(
                "uninitialised-read", say("{name} has no value here yet.", name=node.id), node
            )
        return value

    def _undefined(self, node: ast.Name, kind: T.Type, lanes: Mask) -> Any:
        """The value of a variable for lanes that never set it."""
        if isinstance(kind, T.TupleType):
            return tuple(self._undefined(node, item, lanes) for item in kind.items)
        if isinstance(kind, T.VectorType):
            return (self._undefined(node, kind.dtype, lanes),) * kind.size
        self.observers.undefined(node.id, lanes, node.lineno)
        if not isinstance(kind, np.dtype):
            return None
        value = self.instead.value(node.id, node.lineno, kind) if self.instead else None
        return poison(kind) if value is None else value

    def _where_defined(self, frame: Frame, node: ast.Name, value: Any) -> Any:
        defined = frame.defined.get(node.id)
        undefined = self._nobody if defined is None else self.active.without(defined)
        if undefined.empty:
            return value
        lacking = self._undefined(node, self.typing.types[node], undefined)
        if isinstance(value, ArrayView) or lacking is None:
            return value
        return _chosen(undefined.full_array, lacking, value, node.lineno)

    def attribute(self, node: ast.Attribute) -> Any:
        if node in self.typing.fields:
            return read_field(self, node)
        owner = self.typing.types[node.value]
        if isinstance(owner, T.ArrayType):
            return self._array_attribute(self.evaluate(node.value), node.attr)
        if isinstance(owner, T.TupleType | T.VectorType):
            return self.evaluate(node.value)[owner.fields.index(node.attr)]
        if isinstance(owner, np.dtype):  # a part of a complex number, or of any other
            return getattr(self.evaluate(node.value), node.attr)
        if isinstance(owner, T.Static) and isinstance(owner.value, Reference):
            register = ATTRIBUTES.get(owner.value.attribute(node.attr).path)
            if register is not None:
                return register.read(self)
        return None

    def _array_attribute(self, view: ArrayView, name: str) -> Any:
        match name:
            case "shape":
                return view.shape
            case "size":
                return view.size
            case "nbytes":
                return view.size * np.int64(view.allocation.dtype.itemsize)
            case "strides":
                spacing = view.allocation.spacing
                return tuple(np.int64(stride * spacing) for stride in view.strides)
            case "T":
                return view.transposed
            case "flat":
                return view.flattened
        return None

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, tuple):
            return left + right
        return self.operate(node, left, right)

    def operate(self, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
        """One arithmetic operation, in the type that Numba computes it in."""
        dtype = self.frame.typing.operands[node]
        if dtype.kind in "fc" and self.counts_flops:
            self.note_flops(node, dtype, left, right)
        left, right = self.convert(left, dtype), self.convert(right, dtype)
        if type(node.op) in WRAPS and dtype.kind in "iu":
            self.meet_limit("wrap", node, left, _first_beyond(node.op, right))
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
                self.meet_limit("wrap", node.left, right, _first_beyond(node.op, left))
        if dtype.kind == "c" and isinstance(node.op, ast.Div):
            self._end_where_zero(right, node.lineno)
        result: Value = OPERATORS[type(node.op)](left, right)
        return result

    def _end_where_zero(self, divisor: Value, line: int) -> None:
        """Lanes that divide a complex number by 0 raise an exception, unlike those of floats."""
        failed = self.active.where(divisor == 0)
        if not failed.empty:
            self._raise("ZeroDivisionError (a complex number is divided by 0)", failed, line)

    def note_flops(
        self, node: ast.BinOp | ast.AugAssign, dtype: np.dtype, left: Value, right: Value
    ) -> None:
        """Count a floating-point operation of each active lane; of complex numbers, several."""
        both_integers = left.dtype.kind in "iub" and right.dtype.kind in "iub"
        active, is_float64 = self.active, dtype in _DOUBLE
        each = 1 if dtype.kind == "f" else COMPLEX_FLOPS.get(type(node.op), 1)
        count = each * active.lanes
        self.observers.flops(node.lineno, active, count, is_float64, not both_integers)

    def meet_limit(
        self,
        kind: Kind,
        node: ast.expr | ast.AugAssign,
        left: Value,
        right: Value,
        operator: type[ast.cmpop] = ast.Lt,
    ) -> None:
        """Tell that two values meet, either of which may be a limit for the other."""
        if not self._notes_limits:
            return
        path, active = self.frame.path, self.active
        self.observers.limit(kind, node, path, left, right, active, operator)

    def count_flops(self, node: ast.AST, dtype: np.dtype, each_lane: int) -> None:
        """Count floating-point operations of a function such as math.sqrt."""
        if each_lane and dtype.kind in "fc":
            active = self.active
            count = each_lane * active.lanes
            self.observers.flops(node.lineno, active, count, dtype in _DOUBLE, True)  # type: ignore[attr-defined]

    def unary(self, node: ast.UnaryOp) -> Value:
        operand = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            return ~self.truth(operand)
        operand = self.convert(operand, self.typing.operands[node])
        result: Value = UNARY[type(node.op)](operand)
        return result

    def compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value = np.True_
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            if isinstance(left, tuple) and type(op) in COMPARISONS:
                truth = self._compare_tuples(op, left, right)
                if self.typing.shapes:
                    self._check_bounds_test(node, op, left, right, truth)
            else:
                truth = self.compare_two(op, left, right)
                if type(op) in COMPARISONS and "c" not in (left.dtype.kind, right.dtype.kind):
                    self.meet_limit("test", comparator, left, right, type(op))
            result = result & truth
            left = right
        return result

    def _compare_tuples(
        self, op: ast.cmpop, left: tuple[Any, ...], right: tuple[Any, ...]
    ) -> Value:
        """As Python has it: the first items that differ decide, then the lengths."""
        self.steps.spend(len(left) // 8, self.line)
        result: Value = np.bool_(COMPARISONS[type(op)](len(left), len(right)))
        if isinstance(op, ast.Eq | ast.NotEq) and len(left) != len(right):
            return result
        for one, other in list(zip(left, right, strict=False))[::-1]:
            same = self.compare_two(ast.Eq(), one, other)
            decided = self.compare_two(_STRICTLY.get(type(op), op), one, other)
            result = np.where(same, result, decided)[()]
        return result

    def _check_bounds_test(
        self,
        node: ast.Compare,
        op: ast.cmpop,
        left: tuple[Any, ...],
        right: tuple[Any, ...],
        truth: Value,
    ) -> None:
        """Notice lanes that a comparison of indices with a shape lets through from outside."""
        if isinstance(op, ast.Eq | ast.NotEq):
            return
        indices, shape, below = left, right, isinstance(op, ast.Lt | ast.LtE)
        if node.left in self.typing.shapes:
            indices, shape, below = right, left, not below
        inside: Value = np.True_
        for index, length in zip(indices, shape, strict=False):
            inside = inside & (index < length)
        passed = self.active.where((truth if below else ~truth) & ~inside)
        if not passed.empty:
            self.observers.not_below(ast.unparse(node)[:60], passed, node.lineno)

    def compare_two(self, op: ast.cmpop, left: Any, right: Any) -> Value:
        if isinstance(op, ast.Is | ast.IsNot):
            if left is None or right is None:
                same = left is None and right is None
                return np.bool_(same == isinstance(op, ast.Is))
            op = ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()  # members of enumerations
        if isinstance(op, ast.In | ast.NotIn):
            found: Value = np.False_
            self.steps.spend(len(right) // 8, self.line)
            for item in right:
                found = found | (left == item)
            return found if isinstance(op, ast.In) else ~found
        if left.dtype.kind in "fc" or right.dtype.kind in "fc":
            common = np.promote_types(left.dtype, right.dtype)
            left, right = self.convert(left, common), self.convert(right, common)
        result: Value = COMPARISONS[type(op)](left, right)
        return result

    def boolean(self, node: ast.BoolOp) -> Value:
        dtype = self.typing.types[node]
        is_and = isinstance(node.op, ast.And)
        result: Value = self.convert(self.evaluate(node.values[0]), dtype)
        for operand in node.values[1:]:
            truth = self.truth(result)
            undecided = truth if is_and else ~truth
            if np.ndim(undecided) == 0 and not undecided:
                return result
            value = self.convert(self._where_needed(operand, undecided), dtype)
            if value is not None:
                result = np.where(undecided, value, result) if np.ndim(undecided) else value
        return result

    def _where_needed(self, node: ast.expr, needed: Value) -> Any:
        """Evaluate an operand for the lanes that need it: others must not touch memory."""
        if np.ndim(needed) == 0 or node in self.typing.pure:
            return self.evaluate(node)
        before = self.active
        self.active = before.where(needed)
        value = self._poison_of(node) if self.active.empty else self.evaluate(node)
        self.active = self.still_running(before)
        return value

    def still_running(self, lanes: Mask) -> Mask:
        """Those of the lanes that no exception has ended."""
        return lanes if self._ended is self._nobody else lanes.without(self._ended)

    def _poison_of(self, node: ast.expr) -> Any:
        return _poison_of_type(self.typing.types[node])

    def conditional(self, node: ast.IfExp) -> Any:
        dtype = self.typing.types[node]
        truth = self.truth(self.evaluate(node.test))
        if np.ndim(truth) == 0:
            return self.convert(self.evaluate(node.body if truth else node.orelse), dtype)
        if isinstance(dtype, T.TupleType):
            self.steps.spend(dtype.leaves // 4, self.line)
        body = self.convert(self._where_needed(node.body, truth), dtype)
        orelse = self.convert(self._where_needed(node.orelse, ~truth), dtype)
        return _chosen(truth, body, orelse, node.lineno)

    def tuple_expression(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.evaluate(item) for item in node.elts)

    def named_expression(self, node: ast.NamedExpr) -> Any:
        value = self.evaluate(node.value)
        self.set_variable(node.target.id, value)
        return value

    def subscript(self, node: ast.Subscript) -> Any:
        if node in self.typing.fields:
            return read_field(self, node)
        owner = self.evaluate(node.value)
        if isinstance(owner, tuple):
            return self._item_of(node, owner)
        items = self.index_items(node.slice, owner)
        special = self.frame.typing.special
        if special and node in special:
            items = self._special_indices(node, owner, items, "load")
        if isinstance(self.typing.types[node], T.ArrayType):
            return self.unit.part(owner, items, self.active, self.line)[0]
        return self._element(owner, items)

    def _element(self, view: ArrayView, indices: Sequence[Value], kind: str = "load") -> Any:
        """An element: a number, or a reference to a record, to "load" from or to "store" into."""
        if view.allocation.dtype.names:
            return self.unit.part(view, indices, self.active, self.line, kind)[0]
        return self.load(view, indices)

    def _item_of(self, node: ast.Subscript, items: tuple[Any, ...]) -> Any:
        """An item of a tuple; lanes whose index is beyond it raise an IndexError, as in Numba."""
        index = self.evaluate(node.slice)
        count = len(items)
        if index.ndim == 0 and -count <= index < count:
            return items[int(index)]
        beyond = (index < -count) | (index >= count)
        bad = self.active.where(beyond) if np.any(beyond) else self._nobody
        if not bad.empty:
            name = ast.unparse(node.value)[:40]
            self.observers.no_such_item(name, index, count, bad, node.lineno)
            self.end(bad)
        return self._tuple_item(items, np.where(index < 0, index + count, index)[()])

    def _tuple_item(self, items: tuple[Any, ...], index: Value) -> Any:
        if np.ndim(index) == 0:
            return items[max(0, min(int(index), len(items) - 1))]
        if isinstance(items[0], tuple):
            return tuple(self._tuple_item(part, index) for part in zip(*items, strict=True))
        self.steps.spend(len(items) // 8, self.line)
        result = items[0]
        for number, item in enumerate(items[1:], 1):
            result = _chosen(index == number, item, result, self.line)
        return result

    def _special_indices(
        self, node: ast.Subscript, view: ArrayView, items: list[Any], kind: str
    ) -> list[Any]:
        """The index of `.flat`; or indices, those negative on purpose counted from the end."""
        axes_on_purpose = self.typing.special[node]
        if axes_on_purpose is None:  # an index of .flat never counts from the end
            return [items[0].astype(np.uint64)]
        counted = list(items)
        for axis in axes_on_purpose:
            item, length = items[axis], view.shape[axis]
            if -int(item) <= np.min(length):
                counted[axis] = length + np.int64(item)
                first = int(np.argmax(self.active.full_array))
                fault = Fault("from-end", axis, int(item), int(np.min(length)), first)
                self.unit.report_faults([fault], view.allocation, kind, node.lineno)
        return counted

    def index_items(self, index: ast.expr, view: ArrayView) -> list[Any]:
        """The indices of a subscript, one for each axis: numbers, or slices of numbers."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        items = [item for part in parts for item in self._index_item(part)]
        rest = [number for number, item in enumerate(items) if item is Ellipsis]
        for place in rest:
            items[place : place + 1] = [slice(None)] * (len(view.shape) + 1 - len(items))
        return items

    def _index_item(self, index: ast.expr) -> list[Any]:
        if isinstance(index, ast.Slice):
            bounds = (index.lower, index.upper, index.step)
            return [slice(*(None if b is None else self.evaluate(b) for b in bounds))]
        if isinstance(index, ast.Constant) and index.value is Ellipsis:
            return [Ellipsis]
        value = self.evaluate(index)
        return list(value) if isinstance(value, tuple) else [value]

    def element(self, node: ast.Subscript, kind: str) -> tuple[ArrayView, list[Value]]:
        """The array and the indices that a subscript names, to "load" from or to "store" into."""
        parts = element_parts(self.frame.typing, node)
        if parts is not None and not self.frame.settled:
            array, indices = parts
            return array(self), [index(self) for index in indices]
        view = self.evaluate(node.value)
        items = self.index_items(node.slice, view)
        special = self.frame.typing.special
        if special and node in special:
            items = self._special_indices(node, view, items, kind)
        return view, items

    def call(self, node: ast.Call) -> Any:
        target = self.typing.calls[node]
        arguments = self.arguments_of(node)
        if isinstance(target, Cast):
            if target.dtype.kind in "iu" and target.dtype.itemsize < 4:
                highest = np.int64(np.iinfo(target.dtype).max)
                self.meet_limit("cast", node, arguments[0], highest + 1)
            return self.convert(arguments[0], target.dtype)
        if isinstance(target, Intrinsic):
            return target.run(self, node, arguments)
        try:
            next(self.call_function(target, arguments))
        except StopIteration as end:
            return end.value
        raise AssertionError("a barrier where the typing saw none")

    def arguments_of(self, node: ast.Call) -> list[Any]:
        """The values of a call's arguments, in the order of the parameters."""
        values = [self.evaluate(argument) for argument in self.typing.arguments_of(node)]
        slots = self.typing.slots.get(node)
        if slots is None:
            return values
        values += [self.evaluate(each.value) for each in node.keywords]
        return [_from_slot(values, slot) for slot in slots]

    def starred(self, node: ast.Starred) -> Any:
        """The tuple behind a `*`; arguments_of takes its items."""
        return self.evaluate(node.value)

    def call_function(self, typing: Typing, arguments: Sequence[Any]) -> Generator[int, None, Any]:
        """Call a device function or a closure for the active lanes; returns what it returns."""
        caller, entered, line = self.frame, self.active, self.line
        variables = dict(zip(typing.kernel.parameters, arguments, strict=True))
        path = (*caller.path, line)
        depth = self._deeper(typing) if typing.levels else caller.depth
        self.frame = Frame(typing, variables, entered, parent=caller, path=path, depth=depth)
        outside = self.unit.moment
        self.unit.moment = (*outside, line)
        yield from self.block(typing.kernel.body)
        self.unit.moment = outside
        result = self.frame.result
        self.frame, self.active, self.line = caller, entered, line
        if self._ended is not self._nobody:
            caller.live = caller.live.without(self._ended)
            self.active = entered.without(self._ended)
        if result is None:
            return _poison_of_type(typing.return_type)
        return self.convert(result, typing.return_type)

    def _deeper(self, typing: Typing) -> int:
        """How deep a call lies of a function that calls itself; a budget bounds that, too."""
        depth = self.frame.depth + typing.levels
        if depth > MAX_DEPTH_OF_CALLS:
            message = say(
                "{kernel} calls itself more than {most} times in a row here.",
                kernel=typing.kernel.name,
                most=MAX_DEPTH_OF_CALLS // typing.levels,
            )
            hint = "A loop has no such bound. On a GPU the stack of a thread has one, too."
            raise rejection("unsupported", message, self.line, hint)
        return depth

    def function_value(self, node: ast.expr) -> None:
        """A lambda: the typing knows what it is."""

    # -- memory -----------------------------------------------------------------------------

    def load(self, view: ArrayView, indices: Sequence[Value]) -> Value:
        """Read one element for each active lane."""
        return self.unit.load(view, indices, self.active, self.line)

    def store(self, view: ArrayView, indices: Sequence[Value], value: Value) -> None:
        """Write one element for each active lane."""
        self.unit.store(view, indices, value, self.active, self.line)

    def fill(self, node: ast.Subscript, view: ArrayView, items: Sequence[Any], value: Any) -> None:
        """Write a number, or the items of a tuple, into a part of an array, element by element."""
        part, lanes = self.unit.part(view, items, self.active, self.line, "store")
        lengths = [int(np.max(length)) for length in part.shape]
        if isinstance(value, tuple):
            lanes = self._of_one_length(node.lineno, part.shape[0], len(value), lanes)
            lengths = [len(value)]
        for place in np.ndindex(*lengths):
            inside: Value = np.True_
            for index, length in zip(place, part.shape, strict=True):
                inside = inside & (index < length)
            writing = lanes.where(inside)
            if not writing.empty:
                self.spend(self._statement or node)  # type: ignore[arg-type]
                indices = [np.int64(index) for index in place]
                new = value[place[0]] if isinstance(value, tuple) else value
                self.unit.store(part, indices, new, writing, self.line)

    def _of_one_length(self, line: int, length: Value, items: int, lanes: Mask) -> Mask:
        """The lanes whose part has so many items; the others raise a ValueError."""
        wrong = lanes.where(length != items)
        if not wrong.empty:
            what = f"ValueError ({items} values for a part of another length)"
            self.observers.raised(what, wrong, line)
            self.end(wrong)
        return lanes.without(wrong)

    def atomic(
        self,
        node: ast.Call,
        view: ArrayView,
        index: Value | tuple[Any, ...],
        operands: Sequence[Value],
        combine: Callable[[Any, Any], Any],
    ) -> Value:
        """Update one element for each active lane; the values that they found."""
        # An index that is no integer is cut off to one, unlike in a subscript.
        indices = [
            each if each.dtype.kind in "iu" else each.astype(np.int64)
            for each in (index if isinstance(index, tuple) else (index,))
        ]
        alone = isinstance(self._statement, ast.Expr) and self._statement.value is node
        update = AtomicUpdate(operands, combine, returns_old=not alone)
        return self.unit.atomic(view, indices, update, self.active, self.line)

    def make_array(self, space: str, node: ast.Call) -> ArrayView:
        """A shared or local array; a shared one is the same at every execution of the call."""
        kind = self.typing.types[node]
        assert isinstance(kind, T.ArrayType)
        shape = self.typing.layouts[node]
        name = self._target_name() or f"{space} array"
        alignment = self._alignment(node)
        if space == "local":
            return self.memory.make_local(node, name, shape, kind.dtype, node.lineno, alignment)
        if shape == (0,):
            size = self.dynamic_shared_bytes
            return self.memory.dynamic_shared(node, name, kind.dtype, size, node.lineno, alignment)
        return self.memory.make_shared(node, name, shape, kind.dtype, node.lineno, alignment)

    def _alignment(self, node: ast.Call) -> int:
        """The alignment that the call asks for, in bytes; 1 if it asks for none."""
        by_name = [each.value for each in node.keywords if each.arg == "alignment"]
        given = self.evaluate((node.args[2:] or by_name)[0]) if node.args[2:] or by_name else None
        return 1 if given is None else int(given)

    def _target_name(self) -> str | None:
        """The name that the running statement assigns."""
        statement = self._statement
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            return statement.targets[0].id
        return None

    def advance_random(
        self,
        states: ArrayView,
        index: Value,
        step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    ) -> Value:
        """Advance each active lane's random state; what `step` draws from it."""
        return self.unit.replace(states, [index], step, self.active, self.line)

    # -- barriers ---------------------------------------------------------------------------

    def wait(self, line: int) -> Steps:
        """Wait at a barrier with the active lanes."""
        self.observers.arrived(line, self.active)
        yield line
        self.unit.interval += 1
        self.observers.passed(line, self.active)

    def syncwarp(self, node: ast.Call) -> None:
        """`cuda.syncwarp()` for the active lanes."""
        self.observers.syncwarp(self.active)

    # -- output -----------------------------------------------------------------------------

    def print(self, node: ast.Call, values: Sequence[Any]) -> None:
        """Print a line for every active lane, up to the budget."""
        texts = [
            str(kind.value) if isinstance(kind := self.typing.types[argument], T.Static) else None
            for argument in node.args
        ]
        if not self.budget.printed_lines:
            return
        lanes = np.flatnonzero(self.active.full_array)
        more = max(len(lanes) - self.budget.printed_lines, 0)
        lanes = lanes[: self.budget.printed_lines]
        self.steps.spend(len(lanes), node.lineno)
        columns = [
            text if text is not None else np.broadcast_to(value, self.space.shape).reshape(-1)
            for text, value in zip(texts, values, strict=True)
        ]
        rows = (
            [column if isinstance(column, str) else str(column[lane]) for column in columns]
            for lane in lanes
        )
        self.observers.printed([" ".join(row) for row in rows], more)


def _first_beyond(op: ast.operator, number: Value) -> Value:
    """The least number that `% number`, `// number`, `& number` or `>> number` changes in the way
    that a limit does; of a mask with gaps there is none worth looking at."""
    if isinstance(op, ast.RShift):
        return np.int64(1) << np.clip(number, 0, 62).astype(np.int64)
    return number + np.int64(1) if isinstance(op, ast.BitAnd) else number


def _from_slot(values: Sequence[Any], slot: Slot | tuple[Slot, ...]) -> Any:
    if isinstance(slot, tuple):
        return tuple(_from_slot(values, each) for each in slot)
    if slot.argument is None:
        return slot.default
    value = values[slot.argument]
    return value if slot.item is None else value[slot.item]


def _poison_of_type(kind: T.Type) -> Any:
    if isinstance(kind, T.TupleType):
        return tuple(_poison_of_type(item) for item in kind.items)
    if isinstance(kind, T.VectorType):
        return (poison(kind.dtype),) * kind.size
    return poison(kind) if isinstance(kind, np.dtype) else None


def _chosen(truth: Value, yes: Any, no: Any, line: int) -> Any:
    """`yes` for the lanes where `truth` holds, `no` for the others; of tuples, item by item."""
    if yes is None or no is None:  # of arrays: what no lane has chosen
        return no if yes is None else yes
    if isinstance(yes, tuple):
        return tuple(_chosen(truth, one, other, line) for one, other in zip(yes, no, strict=True))
    if isinstance(yes, ArrayView):
        return _one_view(truth, yes, no, line)
    return np.where(truth, yes, no)


def _one_view(truth: Value, yes: ArrayView, no: ArrayView, line: int) -> ArrayView:
    """The part of an array that each lane has chosen: of one and the same array."""
    if yes is no:
        return yes
    if yes.allocation is not no.allocation or yes.strides != no.strides:
        message = "Threads of one launch choose between different arrays here."
        raise rejection("unsupported", message, line, "Choose between elements instead.")
    lengths = (
        one if one is other else np.where(truth, one, other)
        for one, other in zip(yes.shape, no.shape, strict=True)
    )
    inside = None
    if yes.inside is not None or no.inside is not None:
        held = [np.True_ if each.inside is None else each.inside.full_array for each in (yes, no)]
        space = (yes.inside or no.inside).space  # type: ignore[union-attr]
        inside = Mask.of(space, np.where(truth, *held))
    offset = np.where(truth, yes.offset, no.offset)
    return replace(yes, shape=tuple(lengths), offset=offset, inside=inside)


_DOUBLE = (T.FLOAT64, T.COMPLEX128)
_STRICTLY = {ast.LtE: ast.Lt(), ast.GtE: ast.Gt()}
_STATEMENTS = {
    ast.Assign: "assign",
    ast.AnnAssign: "annotated_assign",
    ast.AugAssign: "augmented_assign",
    ast.If: "if_statement",
    ast.While: "while_statement",
    ast.For: "for_statement",
    ast.Break: "break_statement",
    ast.Continue: "continue_statement",
    ast.Return: "return_statement",
    ast.Expr: "expression_statement",
    ast.Pass: "nothing",
    ast.Assert: "assert_statement",
    ast.FunctionDef: "nothing",
    ast.Raise: "raise_statement",
}
_WITH_BLOCKS = {ast.If, ast.While, ast.For}
_EXPRESSIONS = {
    ast.Constant: "constant",
    ast.Name: "name",
    ast.Attribute: "attribute",
    ast.BinOp: "binary",
    ast.UnaryOp: "unary",
    ast.BoolOp: "boolean",
    ast.Compare: "compare",
    ast.IfExp: "conditional",
    ast.Tuple: "tuple_expression",
    ast.Subscript: "subscript",
    ast.Call: "call",
    ast.Starred: "starred",
    ast.Lambda: "function_value",
    ast.NamedExpr: "named_expression",
}
