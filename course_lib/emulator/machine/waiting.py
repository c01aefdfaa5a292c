"""Takes statements apart that have a barrier in the midst of an expression.

Statements are run in one go, as plain calls; only between them can a machine pause. Where a call
inside of an expression waits, as in `n = 2 * cuda.syncthreads_count(x > 0)`, or calls a function
that does, the parts of the statement are worked out one by one before it runs, in the order in
which Python would, and their values are kept until it has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from course_lib.emulator.functions.intrinsics import Barrier
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.machine.calls import arguments_of, call_function
from course_lib.emulator.machine.machine import Machine, Steps
from course_lib.emulator.machine.prepared import evaluate_slowly
from course_lib.emulator.machine.subscripts import element
from course_lib.emulator.state.lanes import Value


def settle(machine: Machine, node: ast.AST) -> Steps:
    """Work out the parts of an expression, or of a statement without blocks, that waits.

    Their values are kept in the frame's `settled`, where `Machine.evaluate` finds them.
    """
    match node:
        case ast.BoolOp():
            yield from _settle_boolean(machine, node)
        case ast.IfExp():
            yield from _settle_conditional(machine, node)
        case ast.Call() if node in machine.typing.rewritten:
            other = machine.typing.rewritten[node]
            yield from _settle_parts(machine, _parts(other))
            machine.frame.settled[node] = evaluate_slowly(machine, other)
        case ast.Call():
            by_place = machine.typing.arguments_of(node)
            by_name = [each.value for each in node.keywords if node in machine.typing.slots]
            yield from _settle_parts(machine, [*by_place, *by_name])
            yield from _settle_call(machine, node)
        case ast.AugAssign(target=target) if target in machine.typing.fields:
            assert isinstance(target, ast.Attribute | ast.Subscript)
            yield from _settle_parts(machine, [target.value])
            machine.frame.settled[target] = machine.evaluate(target)
            yield from _settle_parts(machine, [node.value])
        case ast.AugAssign(target=ast.Subscript() as target):
            yield from _settle_parts(machine, _parts(target))
            machine.frame.settled[target] = machine.load(*element(machine, target, "load"))
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
        case ast.AugAssign(target=ast.Name()):
            yield from (node.target, node.value)
        case ast.Subscript():
            yield node.value
            yield from _parts_of_index(node.slice)
        case ast.NamedExpr():
            yield node.value
        case ast.Tuple() | ast.Slice():
            yield from _parts_of_index(node)
        case ast.Call():
            yield from (node.func, *node.args, *(each.value for each in node.keywords))
        case ast.expr() | ast.Expr() | ast.Return():
            yield from (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))


def _parts_of_target(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple):
        for each in target.elts:
            yield from _parts_of_target(each)
    elif isinstance(target, ast.Subscript):
        yield from _parts(target)
    elif isinstance(target, ast.Attribute):
        yield target.value


def _parts_of_index(index: ast.expr) -> Iterator[ast.expr]:
    """The numbers of an index, or of any other tuple."""
    if isinstance(index, ast.Tuple):
        for each in index.elts:
            yield from _parts_of_index(each)
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
    arguments = arguments_of(machine, node)
    if isinstance(target, Barrier):
        brought = target.arrive(machine, node, arguments)
        yield from machine.wait(node.lineno)
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
