"""Looks for the one small change with which a plain function is right in every call."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from course_lib.diagnosis.functions.function_calls import Call, call
from course_lib.diagnosis.repair.all_edits import edits_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import CommonDeviation
from course_lib.diagnosis.source.tree import names_bound, names_read, root_name
from course_lib.emulator import Kernel, KernelRejected, Record
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing

STEPS_OF_ALL_CHANGES = 400_000
STEPS_OF_A_CALL = 20_000
# Of a function that is changed; the changes of each statement are looked for among all nodes, so
# that twice as long a function takes four times as long. The longest stored answer has 262.
MOST_NODES = 1_500
USUAL_NUMBERS = (4, 8, 32)  # bytes, bits, threads


def edit_that_repairs(function: Kernel, calls: Sequence[Call]) -> Edit | None:
    """The first small change with which every call is right."""
    own = _own_functions(function)
    function = replace(function, namespace=ChainMap(own, function.namespace))  # type: ignore[arg-type]
    # What went wrong comes first: one such call rules most changes out.
    telling = sorted(calls, key=lambda example: example.right)
    left = STEPS_OF_ALL_CHANGES
    wrong = [(example.number, example.wanted) for example in calls if not example.right]
    numbers = [(number, wanted) for number, wanted in wrong if number is not None]
    deviation = CommonDeviation.of(
        [number for number, _ in numbers], [wanted for _, wanted in numbers]
    )
    for edit in sorted(_edits(function, own, telling[0], deviation), key=lambda edit: edit.cost):
        changed = edit.applied(function)
        for example in telling:
            steps = max(1, min(left, STEPS_OF_A_CALL))
            made = call(example.table, changed, example.arguments, steps)
            left -= made.steps
            if not made.right:
                break
        else:
            return edit
        if left <= 0:
            break
    return None


def _own_functions(function: Kernel) -> dict[str, Any]:
    """Those that it calls by name and that stand beside it, read once."""
    found = {}
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            with suppress(KernelRejected):
                called = function.namespace.get(node.func.id)
                if isinstance(called, Kernel) and _stands_beside(called, function):
                    found[node.func.id] = called
    return found


def _stands_beside(one: Kernel, other: Kernel) -> bool:
    """Do they stand in the same file, cell or text, so that their lines are counted alike?"""
    return one.file == other.file and bool(one.file or one.source == other.source)


def _edits(
    function: Kernel, own: Mapping[str, Kernel], call: Call, deviation: CommonDeviation
) -> Iterator[Edit]:
    """The changes of a function, and of those that it calls."""
    given = list(zip(function.parameters, call.arguments, strict=True))
    # The nodes have the names that are read: what a function forgets stands in none.
    unread = [name for name, value in given if type(value) is int]
    unread = [name for name in unread if name not in names_read(function.tree)]
    records = {name: value for name, value in given if isinstance(value, Record)}
    fields = [
        f"{name}.{field}"
        for name, record in records.items()
        for field, value in record.values.items()
        if isinstance(value, int)
    ]
    numbers = call.table.numbers or USUAL_NUMBERS
    for kernel in (function, *own.values()):
        is_short = sum(1 for _ in ast.walk(kernel.tree)) <= MOST_NODES
        if isinstance(kernel.tree, ast.FunctionDef) and is_short:
            its_fields, more = (fields, unread) if kernel is function else ((), [])
            typing = _as_typed(kernel, records)
            yield from edits_of(typing, more, (), numbers, its_fields, deviation)


def _as_typed(function: Kernel, records: Mapping[str, Record]) -> Typing:
    """A plain function's values are numbers: whole ones, as far as changes go."""
    called = {node.func for node in ast.walk(function.tree) if isinstance(node, ast.Call)}
    parts = (
        node
        for node in ast.walk(function.tree)
        if isinstance(node, ast.expr)
        and node not in called
        and not (isinstance(node, ast.Name) and node.id in records)
    )
    return Typing(function, dict.fromkeys(parts, T.INT64))


def line_of(place: Sequence[str], function: Kernel) -> int:
    """The first line that names the first of these that is named; if none is, where the result is
    worked out.

    A name is that of a variable, of a record's field, or "/"; a number stands for itself. Tests and
    comparisons are left aside, and variables that nothing reads.
    """
    read = names_read(function.tree)
    aside = {part for node in ast.walk(function.tree) for part in _aside(node, read)}
    lines: dict[str, int] = {}
    for node in ast.walk(function.tree):
        if isinstance(node, ast.expr) and node not in aside:
            name = _name(node)
            lines[name] = min(node.lineno, lines.get(name, node.lineno))
    found = [lines[name] for name in place if name in lines]
    return found[0] if found else _worked_out_at(function)


def _worked_out_at(function: Kernel) -> int:
    """The last return's line, or the one before it that works out all that it returns."""
    returns = [node for node in ast.walk(function.tree) if isinstance(node, ast.Return)]
    last = max(returns, key=lambda node: node.lineno, default=None)
    value = last.value if last else None
    line, seen = last_return(function), set[str]()
    while value is not None:
        found = [
            made
            for name in sorted(_combined(value) - seen)
            for made in [_made(function, name)]
            if made
        ]
        if len(found) != 1:
            break
        seen |= _combined(value)
        line, value = found[0].lineno, getattr(found[0], "value", None)
    return line


def _combined(value: ast.expr) -> set[str]:
    """The variables of which a value is a plain combination: `total`, `len(seen)`, `a + b`."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.Call(func=ast.Name(), args=[argument]):
            return _combined(argument)
        case ast.BinOp(ast.Name(id=left), ast.Add() | ast.Mult(), ast.Name(id=right)):
            return {left, right}
    return set()


def _made(function: Kernel, name: str) -> ast.stmt | None:
    """The last statement that gives a variable more than a number, or puts something into it."""
    made = [
        node
        for node in ast.walk(function.tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr)
        and name in {root_name(target) for target in _targets(node)}
        and not (isinstance(node, ast.Assign) and not names_read(node.value))
    ]
    return max(made, key=lambda node: node.lineno, default=None)


def _targets(statement: ast.Assign | ast.AugAssign | ast.Expr) -> Sequence[ast.AST]:
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AugAssign(target=target):
            return [target]
        case ast.Expr(ast.Call(func=ast.Attribute(value=changed))):  # seen.add(…)
            return [changed]
    return ()


def _aside(node: ast.AST, read: Collection[str]) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():  # a text may stand in a comparison alone: `op == "LDS"`
            return (part for part in ast.walk(node) if not _is_text(part))
        case ast.If(test=test) | ast.IfExp(test=test):
            return ast.walk(test)
        case ast.Assign() if names_bound(node).isdisjoint(read):
            return ast.walk(node)
    return iter(())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=value):
            return repr(value)
        case ast.BinOp(op=ast.Div()):
            return "/"
    return ""


def last_return(function: Kernel) -> int:
    returns = [node.lineno for node in ast.walk(function.tree) if isinstance(node, ast.Return)]
    return max(returns, default=function.tree.lineno)
