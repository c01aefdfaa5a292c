"""Loops: `while` and `for`, whose lanes leave one by one and meet again behind them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.emulator.functions.iteration import ItemsInTurn, items_of
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.assignments import bind
from course_lib.emulator.machine.frames import RunningLoop
from course_lib.emulator.machine.machine import Machine, Steps
from course_lib.emulator.machine.waiting import settle
from course_lib.emulator.state.lanes import Mask, Value


def while_statement(machine: Machine, node: ast.While) -> Steps:
    before = machine.active
    loop = _open_loop(machine, node)
    left: list[Mask] = []
    while not machine.active.empty:
        machine.spend(node)
        machine.line = node.lineno
        if node.test in machine.typing.waiting:
            yield from settle(machine, node.test)
        condition = machine.condition(node.test)
        staying = machine.active.where(condition)
        if staying is not machine.active:
            left.append(machine.active.without(staying))
        machine.active = staying
        yield from _one_round(machine, node.body, loop)
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
    elif not isinstance(kind, T.RangeType):
        items = items_of(machine, kind, iterated)
        yield from _for_places(machine, node, loop, left, items)
    elif not any(bound.ndim for bound in iterated):
        yield from _for_uniform(machine, node, loop, *iterated)
    else:
        yield from _for_lanes(machine, node, loop, left, *iterated)
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


def _for_lanes(
    machine: Machine,
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
    while not machine.active.empty:
        machine.spend(node)
        machine.line = node.lineno
        inside = np.where(step > 0, index < stop, (step < 0) & (index > stop))
        machine.observers.branch(node.lineno, inside, machine.active)
        staying = machine.active.where(inside)
        if staying is not machine.active:
            left.append(machine.active.without(staying))
        machine.active = staying
        if machine.active.empty:
            return
        bind(machine, node.target, index)
        yield from _one_round(machine, node.body, loop)
        index = index + step


def _for_places(
    machine: Machine, node: ast.For, loop: RunningLoop, left: list[Mask], items: ItemsInTurn
) -> Steps:
    """A loop over places 0, 1, …: each lane leaves when its own items are at an end."""
    assert items.count is not None  # of enumerate's two parts, one has an end
    loop.count = int(np.max(items.count))
    for place in range(loop.count + 1):
        machine.spend(node)
        machine.line = node.lineno
        inside = np.int64(place) < items.count
        machine.observers.branch(node.lineno, inside, machine.active)
        staying = machine.active.where(inside)
        if staying is not machine.active:
            left.append(machine.active.without(staying))
        machine.active = staying
        if machine.active.empty:
            return
        bind(machine, node.target, items.item(machine, place))
        yield from _one_round(machine, node.body, loop)


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
