"""Runs statements for all lanes at once: branches, loops, and barriers inside an expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import Barrier, WaitFunction
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.assignments import annotated_assign, assign, augmented_assign, bind
from course_lib.emulator.machine.events import RunningLoop
from course_lib.emulator.machine.expressions import arguments_of, place_of
from course_lib.emulator.machine.machine import Machine, Pause, Steps
from course_lib.emulator.machine.repetition import Repetition
from course_lib.emulator.machine.variables import call_function, merged
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView

# --- Statements with a barrier inside an expression -----------------------------------------------
# Statements are run in one go, as plain calls; only between them can a machine pause. Where a call
# inside of an expression waits, as in `n = 2 * cuda.syncthreads_count(x > 0)`, or calls a function
# that does, the parts of the statement are worked out one by one before it runs, in the order in
# which Python would, and their values are kept until it has.


def settle(machine: Machine, node: ast.AST) -> Steps:
    """Evaluate those parts of an expression, or of a statement without blocks, that wait.

    Their values are kept in the frame's `settled`, where their functions find them.
    """
    match node:
        case ast.BoolOp():
            yield from _settle_boolean(machine, node)
        case ast.IfExp():
            yield from _settle_conditional(machine, node)
        case ast.Call() if node in machine.typing.rewritten:
            other = machine.typing.rewritten[node]
            yield from _settle_parts(machine, _parts(other))
            machine.frame.settled[node] = machine.evaluate(other)
        case ast.Call():
            by_place = machine.typing.arguments_of(node)
            by_name = [keyword.value for keyword in node.keywords if node in machine.typing.slots]
            yield from _settle_parts(machine, [*by_place, *by_name])
            yield from _settle_call(machine, node)
        case ast.AugAssign(target=target) if target in machine.typing.fields:
            assert isinstance(target, ast.Attribute | ast.Subscript)
            yield from _settle_parts(machine, [target.value])
            machine.frame.settled[target] = machine.evaluate(target)
            yield from _settle_parts(machine, [node.value])
        case ast.AugAssign(target=ast.Subscript() as target):
            yield from _settle_parts(machine, _parts(target))
            machine.frame.settled[target] = machine.load(
                *place_of(machine.typing, target)(machine, "load")
            )
            yield from _settle_parts(machine, [node.value])
        case _:
            yield from _settle_parts(machine, _parts(node))


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node evaluates, in their order."""
    match node:
        case ast.Assign():
            yield node.value
            for target in node.targets:
                yield from _parts_of_target(target)
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
            yield from _parts_of_target(node.target)
        case ast.Subscript():
            yield node.value
            yield from _parts_of_index(node.slice)
        case ast.NamedExpr():
            yield node.value
        case ast.Assert():
            yield node.test
        case _:
            yield from (
                child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
            )


def _parts_of_target(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple):
        for element in target.elts:
            yield from _parts_of_target(element)
    elif isinstance(target, ast.Subscript):
        yield from _parts(target)
    elif isinstance(target, ast.Attribute):
        yield target.value


def _parts_of_index(index: ast.expr) -> Iterator[ast.expr]:
    """The numbers of an index."""
    if isinstance(index, ast.Tuple):
        for element in index.elts:
            yield from _parts_of_index(element)
    elif isinstance(index, ast.Slice):
        yield from (bound for bound in (index.lower, index.upper, index.step) if bound)
    else:
        yield index


def _settle_parts(machine: Machine, parts: Iterator[ast.expr] | list[ast.expr]) -> Steps:
    for part in parts:
        if part in machine.typing.waiting:
            yield from settle(machine, part)
        machine.frame.settled[part] = machine.evaluate(part)


def _settle_call(machine: Machine, node: ast.Call) -> Steps:
    """A call whose arguments are settled: wait, or go through a function in which there is one."""
    target = machine.typing.calls[node]
    arguments = arguments_of(machine.typing, node)(machine)
    if isinstance(target, Barrier):
        brought = target.arrive(machine, node, arguments)
        yield from machine.wait(node.lineno, target.scope)
        machine.frame.settled[node] = target.run(machine, node, [brought])
    elif isinstance(target, WaitFunction):
        brought = target.arrive(machine, node, arguments)
        while not target.is_over(machine, brought):
            yield Pause(node.lineno, "others", brought)
        machine.frame.settled[node] = target.run(machine, node, [brought])
    elif isinstance(target, Typing):
        machine.frame.settled[node] = yield from call_function(machine, target, arguments)


def _settle_boolean(machine: Machine, node: ast.BoolOp) -> Steps:
    """Each operand for the lanes for which the operands before leave it open."""
    undecided: Value = np.True_
    for operand in node.values:
        yield from _settle_where(machine, operand, undecided)
        if operand not in machine.frame.settled:
            return  # all lanes have decided
        truth = machine.truth(machine.evaluate(operand))
        undecided = undecided & (truth if isinstance(node.op, ast.And) else ~truth)


def _settle_conditional(machine: Machine, node: ast.IfExp) -> Steps:
    """Each side for the lanes that take it."""
    yield from _settle_parts(machine, [node.test])
    truth = machine.truth(machine.evaluate(node.test))
    yield from _settle_where(machine, node.body, truth)
    yield from _settle_where(machine, node.orelse, ~truth)


def _settle_where(machine: Machine, operand: ast.expr, needed: Value) -> Steps:
    """An operand for those active lanes that need it, if there are any."""
    before = machine.active
    machine.active = before.where(needed)
    if not machine.active.empty:
        yield from _settle_parts(machine, [operand])
    machine.active = machine.still_running(before)


# --- Loops, whose lanes leave one by one and meet again behind them -------------------------------


def while_statement(machine: Machine, node: ast.While) -> Steps:
    before = machine.active
    loop = _open_loop(machine, node)
    left: list[Mask] = []
    repetition = Repetition(machine, loop)
    while not machine.active.empty:
        machine.spend(node)
        machine.line = node.lineno
        if node.test in machine.typing.waiting:
            yield from settle(machine, node.test)
        condition = machine.condition(node.test)
        _stay(machine, left, condition)
        has_paused = node.test in machine.typing.waiting
        for pause in _one_round(machine, node.body, loop):
            has_paused = True
            yield pause
        if node in machine.typing.spins and not machine.active.empty:
            has_paused = True
            yield Pause(node.lineno, "others")
        if repetition.is_found(has_paused):
            raise BudgetExceeded(node.lineno, replace(machine.as_open(loop), in_vain=True))
    yield from _leave_loop(machine, before, left, loop)


def for_statement(machine: Machine, node: ast.For) -> Steps:
    if node.iter in machine.typing.waiting:
        yield from settle(machine, node.iter)
    iterated, kind = machine.evaluate(node.iter), machine.typing.types[node.iter]
    machine.frame.settled.clear()
    before = machine.active
    loop = _open_loop(machine, node)
    left: list[Mask] = []
    if isinstance(kind, T.TupleType):
        yield from _for_items(machine, node, loop, iterated)
    elif isinstance(kind, T.RangeType) and not any(bound.ndim for bound in iterated):
        yield from _for_uniform(machine, node, loop, *iterated)
    else:
        items = items_of(machine, kind, iterated)
        yield from _for_places(machine, node, loop, left, items)
    left.append(machine.active)
    yield from _leave_loop(machine, before, left, loop)


def _for_items(machine: Machine, node: ast.For, loop: RunningLoop, items: tuple[Any, ...]) -> Steps:
    loop.count = len(items)
    for item in items:
        if machine.active.empty:
            return
        bind(machine, node.target, item)
        yield from _one_round(machine, node.body, loop)


def _for_uniform(
    machine: Machine, node: ast.For, loop: RunningLoop, start: Value, stop: Value, step: Value
) -> Steps:
    if step == 0:
        return
    number = start.dtype.type
    numbers = range(int(start), int(stop), int(step))
    loop.count = len(numbers)
    for index in numbers:
        if machine.active.empty:
            return
        machine.spend(node)
        machine.line = node.lineno
        machine.observers.branch(node.lineno, np.True_, machine.active)
        bind(machine, node.target, number(index))
        yield from _one_round(machine, node.body, loop)
    machine.observers.branch(node.lineno, np.False_, machine.active)


def _for_places(
    machine: Machine, node: ast.For, loop: RunningLoop, left: list[Mask], items: ItemsInTurn
) -> Steps:
    """A loop over places 0, 1, …: each lane leaves when its own items are at an end."""
    assert items.count is not None  # of enumerate's two parts, one has an end
    loop.count = int(np.max(items.count))
    for place in range(loop.count + 1):
        if machine.active.empty:
            return
        machine.spend(node)
        machine.line = node.lineno
        inside = np.int64(place) < items.count
        machine.observers.branch(node.lineno, inside, machine.active)
        _stay(machine, left, inside)
        if machine.active.empty:
            return
        bind(machine, node.target, items.item(machine, place))
        yield from _one_round(machine, node.body, loop)


def _stay(machine: Machine, left: list[Mask], inside: Value) -> None:
    """Lanes whose loop goes on stay in it; the others wait behind it."""
    staying = machine.active.where(inside)
    if staying is not machine.active:
        left.append(machine.active.without(staying))
    machine.active = staying


def _one_round(machine: Machine, body: Sequence[ast.stmt], loop: RunningLoop) -> Steps:
    """Run a loop's body once; lanes at `continue` take part in the next round."""
    before, outside = machine.active, machine.unit.moment
    loop.turns += 1
    machine.unit.moment = (*outside, body[0].lineno, loop.turns)
    yield from machine.block(body)
    machine.unit.moment = outside
    machine.observers.end_turn()
    if loop.continued:
        machine.active = machine.rejoin(before, [machine.active, *loop.continued])
        loop.continued = []


def _open_loop(machine: Machine, node: ast.For | ast.While) -> RunningLoop:
    loop = RunningLoop(node)
    machine.frame.loops.append(loop)
    machine.open_loops.append(loop)
    machine.observers.enter_loop(node, machine.frame.path)
    return loop


def _leave_loop(machine: Machine, before: Mask, left: Sequence[Mask], loop: RunningLoop) -> Steps:
    node = loop.node
    machine.frame.loops.pop()
    machine.open_loops.pop()
    machine.most_turns[node] = max(loop.turns, machine.most_turns.get(node, 0))
    machine.observers.leave_loop(max(loop.turns, loop.count))
    machine.active = machine.rejoin(before, left)
    if node.orelse and not machine.active.empty:
        yield from machine.block(node.orelse)
    if loop.broken:
        machine.active = machine.rejoin(before, [machine.active, *loop.broken])


# --- The items of a loop --------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemsInTurn:
    """The items that a loop takes out one by one, as long as all lanes are at the same place."""

    # how many there are, perhaps another number for each lane; None if there is no end
    count: Value | None
    item: Callable[[Machine, int], Any]  # the one at a place, for the lanes that are active then


def items_of(machine: Machine, kind: T.Type, value: Any) -> ItemsInTurn:
    """The items of a value of this type."""
    if isinstance(kind, T.RangeType):
        start, stop, step = value
        runs = np.where(step > 0, start < stop, (step < 0) & (start > stop))
        number = (stop - start - np.sign(step)) // np.where(step == 0, step.dtype.type(1), step) + 1
        count = np.where(runs, number, 0)[()]
        return ItemsInTurn(count, lambda _, place: start + start.dtype.type(place) * step)
    if isinstance(kind, T.TupleType):
        return ItemsInTurn(np.int64(len(value)), lambda _, place: value[place])
    if isinstance(kind, T.ZipType):
        items: ItemsInTurn = value
        return items
    view: ArrayView = value
    return ItemsInTurn(view.shape[0], lambda machine, place: machine.array_item(view, place))


# --- Blocks, branches, and what ends a lane; the table of statements ------------------------------


def run_block(machine: Machine, body: Sequence[ast.stmt]) -> Steps:
    """Run statements for the active lanes until none is left active."""
    for statement in body:
        if machine.active.empty:
            return
        machine.line = statement.lineno
        machine.spend(statement)
        machine.observers.statement(statement.lineno, machine.active, machine.frame)
        machine.statement = statement
        kind = type(statement)
        if kind in _WITH_BLOCKS:
            yield from _WITH_BLOCKS[kind](machine, statement)
        elif statement in machine.frame.typing.waiting:
            yield from settle(machine, statement)
            _WITHOUT[kind](machine, statement)
            machine.frame.settled.clear()
        else:
            _WITHOUT[kind](machine, statement)


def if_statement(machine: Machine, node: ast.If) -> Steps:
    if node.test in machine.typing.waiting:
        yield from settle(machine, node.test)
    condition = machine.condition(node.test)
    before = machine.active  # a call in the test may have ended some
    taken = before.where(condition)
    if taken is before or taken.lanes == before.lanes:
        yield from machine.block(node.body)
    elif taken.empty:
        yield from machine.block(node.orelse)
    else:
        other = before.without(taken)
        machine.active = taken
        yield from machine.block(node.body)
        after_body = machine.active
        machine.active = other
        yield from machine.block(node.orelse)
        machine.active = machine.rejoin(before, [after_body, machine.active])


def break_statement(machine: Machine, node: ast.Break) -> None:
    machine.frame.loops[-1].broken.append(machine.active)
    machine.active = machine.nobody


def continue_statement(machine: Machine, node: ast.Continue) -> None:
    machine.frame.loops[-1].continued.append(machine.active)
    machine.active = machine.nobody


def return_statement(machine: Machine, node: ast.Return) -> None:
    frame = machine.frame
    if node.value is not None:
        value = machine.evaluate(node.value)
        frame.result = value if frame.result is None else merged(machine, value, frame.result)
    frame.live = frame.live.without(machine.active)
    machine.active = machine.nobody


def expression_statement(machine: Machine, node: ast.Expr) -> None:
    machine.evaluate(node.value)


def nothing(machine: Machine, node: ast.stmt) -> None:
    """`pass`, or a definition: nothing to do."""


def raise_statement(machine: Machine, node: ast.Raise) -> None:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    machine.raise_exception(
        ast.unparse(raised) if raised else "an exception", machine.active, node.lineno
    )


def assert_statement(machine: Machine, node: ast.Assert) -> None:
    holds = machine.condition(node.test)
    failed = machine.active.where(~holds)
    if not failed.empty:
        machine.raise_exception("AssertionError", failed, node.lineno)


_WITH_BLOCKS: dict[type[ast.stmt], Callable[[Machine, Any], Steps]] = {
    ast.If: if_statement,
    ast.While: while_statement,
    ast.For: for_statement,
}
_WITHOUT: dict[type[ast.stmt], Callable[[Machine, Any], None]] = {
    ast.Assign: assign,
    ast.AnnAssign: annotated_assign,
    ast.AugAssign: augmented_assign,
    ast.Break: break_statement,
    ast.Continue: continue_statement,
    ast.Return: return_statement,
    ast.Expr: expression_statement,
    ast.Assert: assert_statement,
    ast.Raise: raise_statement,
    ast.Pass: nothing,
    ast.FunctionDef: nothing,
}
