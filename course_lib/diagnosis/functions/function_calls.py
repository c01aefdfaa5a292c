"""Calls a plain function, by the interpreter; and looks for the change that makes it right."""

from __future__ import annotations

import ast
import math
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from course_lib.diagnosis.repair.all_edits import edits_of
from course_lib.diagnosis.repair.edit import Edit, first_that_repairs
from course_lib.diagnosis.repair.ingredients import CommonDeviation
from course_lib.diagnosis.source.tree import names_bound, names_read, nodes_in, root_name
from course_lib.emulator import Budget, Kernel, KernelRejected, Record
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.problems.call_table import Arguments, CallTable
from course_lib.wording.findings import Finding

# Steps bound the work: of blocks_per_sm, a right answer takes about 100 for a call, and one that
# finds each number by counting up to it 30,000.
STEPS_PER_CALL = 200_000
STEPS = 10_000_000  # of all calls
CLOSE = 1e-9  # of the right number: how far a fraction may be off
NO_ANSWER = ("timeout", "not-allowed", "unsupported")


@dataclass(frozen=True)
class Call:
    """One call: its arguments, what is right, and what came of it."""

    table: CallTable = field(repr=False)
    arguments: Arguments
    wanted: float
    value: object = None
    stopped: Finding | None = None
    steps: int = 0

    @property
    def number(self) -> float | None:
        """The value, if it is a number."""
        match self.value:
            case bool():
                return None
            case int() as whole:  # however large
                return whole
            case float() as number if math.isfinite(number):
                return number
        return None

    @property
    def right(self) -> bool:
        return self.is_number(self.value)

    @property
    def drawn(self) -> bool:
        return self.arguments in self.table.drawn

    @cached_property
    def refused(self) -> tuple[str, str] | None:
        return self.table.refused(*self.arguments)

    def is_number(self, value: object) -> bool:
        """Is this the right number, and whole where only whole ones are asked for?"""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        if self.table.whole and not isinstance(value, int):
            return False
        if self.table.whole:  # however large: a bit of 64 is no fraction of the number
            return bool(value == self.wanted)
        return bool(abs(value - self.wanted) <= CLOSE * abs(self.wanted))


def all_calls(table: CallTable, function: Kernel) -> Iterator[Call]:
    """Every call of a table, until no steps are left, or one shows that none has an answer."""
    left = STEPS
    for arguments in table.calls:
        made = call(table, function, arguments, min(left, STEPS_PER_CALL))
        left -= made.steps
        yield made
        if ends_all(made):
            return


def ends_all(call: Call) -> bool:
    """Does it stop by something that no other call says more of?"""
    return call.stopped is not None and call.stopped.code in NO_ANSWER


def call(
    table: CallTable, function: Kernel, arguments: Arguments, steps: int = STEPS_PER_CALL
) -> Call:
    """What a function returns for these arguments, beside what is right."""
    wanted = table.reference(*arguments)
    walk = Interpreter(Budget(steps=steps))
    try:
        value, stopped = walk.run(function, list(arguments)), None
    except KernelRejected as stop:
        value, stopped = None, stop.findings[0]
    return Call(table, arguments, wanted, value, stopped, steps - walk.steps.left)


def same_numbers(values: Sequence[float | None], others: Sequence[float]) -> bool:
    """Are these the same numbers, however a fraction was rounded on the way?"""
    return all(
        value is not None and alike(value, other)
        for value, other in zip(values, others, strict=True)
    )


def alike(value: float, other: float) -> bool:
    """Two whole numbers are the same or they are not; a fraction may have been rounded."""
    if isinstance(value, int) and isinstance(other, int):
        return value == other
    return math.isclose(value, other, rel_tol=CLOSE)


# --- The one small change with which every call is right ------------------------------------------


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
    wrong = [(example.number, example.wanted) for example in calls if not example.right]
    numbers = [(number, wanted) for number, wanted in wrong if number is not None]
    deviation = CommonDeviation.of(
        [number for number, _ in numbers], [wanted for _, wanted in numbers]
    )

    def attempts(edit: Edit) -> Iterator[tuple[bool, int]]:
        changed = edit.applied(function)
        for example in telling:
            made = call(example.table, changed, example.arguments, STEPS_OF_A_CALL)
            yield made.right, made.steps

    edits = sorted(_edits(function, own, telling[0], deviation), key=lambda edit: edit.cost)
    return first_that_repairs(edits, attempts, STEPS_OF_ALL_CHANGES)


def _own_functions(function: Kernel) -> dict[str, Any]:
    """Those that it calls by name and that stand beside it, read once."""
    found = {}
    for node in nodes_in(function.tree, ast.Call):
        if isinstance(node.func, ast.Name):
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
    called = {node.func for node in nodes_in(function.tree, ast.Call)}
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
    returns = nodes_in(function.tree, ast.Return)
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
        case ast.Call(args=[argument]):  # len(seen), seen.append(sector)
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
    returns = nodes_in(function.tree, ast.Return)
    return max((node.lineno for node in returns), default=function.tree.lineno)
