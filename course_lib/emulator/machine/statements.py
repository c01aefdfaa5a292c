"""Runs statements: a branch and its lanes, what ends a lane, and which function runs which kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from course_lib.emulator.machine.assignments import annotated_assign, assign, augmented_assign
from course_lib.emulator.machine.loops import for_statement, while_statement
from course_lib.emulator.machine.machine import Machine, Steps
from course_lib.emulator.machine.variables import merged
from course_lib.emulator.machine.waiting import settle


def run_block(machine: Machine, body: Sequence[ast.stmt]) -> Steps:
    """Run statements for the active lanes until none is left active."""
    for statement in body:
        if machine.active.empty:
            return
        machine.line = statement.lineno
        machine.spend(statement)
        machine.observers.statement(statement.lineno, machine.active, machine.frame)
        machine.statement = statement
        with_blocks = _WITH_BLOCKS.get(type(statement))
        if with_blocks is not None:
            yield from with_blocks(machine, statement)
        elif statement in machine.frame.typing.waiting:
            yield from settle(machine, statement)
            _WITHOUT[type(statement)](machine, statement)
            machine.frame.settled.clear()
        else:
            _WITHOUT[type(statement)](machine, statement)


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
    """`pass` or a definition."""


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
