"""An answer's source: the line to blame once the slip is known, and the values of expressions.

Numbers say what went wrong; the source says only where that is written. A function that cannot tell
returns None, and the finding has no line.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from course_lib.diagnosis.source.bounds import Bounds
from course_lib.diagnosis.source.tree import (
    flat,
    indices_of,
    multiplies,
    names_in,
    outside,
    root_name,
)
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY


class Source(Bounds):
    """The functions of an answer, and where their sums are made."""

    def additions(self) -> list[ast.Assign | ast.AugAssign]:
        """The statements that combine elements, deepest in loops first: where the sum is made."""
        tiles = self.shared_names()
        found = []
        for node in self.walk():
            if not isinstance(node, (ast.Assign, ast.AugAssign)):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            collects = isinstance(node, ast.AugAssign) or any(map(multiplies, outside(node.value)))
            if collects and root_name(target) not in tiles and self._uses_elements(node):
                found.append(node)
        found.sort(key=lambda node: (-len(self.loops_around(node)), node.lineno))
        return found

    def _uses_elements(self, statement: ast.Assign | ast.AugAssign) -> bool:
        arrays = self.shared_names() | set(self.parameters)
        names = {node.id for node in outside(statement.value) if isinstance(node, ast.Name)}
        values = (self.value_of(name) for name in names)
        kept = (assign.value for name in names for assign in self.local_stores(name))
        copied = {
            part.id
            for value in (*values, *kept)
            if value
            for part in outside(value)
            if isinstance(part, ast.Name)
        }
        return bool((names | copied) & arrays)

    def line_of_index(self, access: ast.expr, axes: Sequence[int] = ()) -> int:
        """The line of an access, or of what works out its index (along these axes) and serves no
        other access."""
        indices = _indices_at(access)
        wanted = [indices[axis] for axis in axes if axis < len(indices)] or indices
        lines = {self._worked_out_for(index, access) for index in wanted}
        line = lines.pop() if len(lines) == 1 else None
        return line or access.lineno

    def _worked_out_for(self, index: ast.expr, access: ast.expr) -> int | None:
        """The line of the variable that an index is, if only this line and comparisons read it."""
        if not isinstance(index, ast.Name):
            return None
        for loop in self.loops_around(access):
            match loop:
                case ast.For(target=ast.Name(index.id), iter=ast.Call(args=[_, _, *_])):
                    return loop.lineno
        made = self.last_assignment(index)
        if made is None:
            return None
        whole = self._function_of(access) or self.kernel
        compared = (node for node in ast.walk(whole) if isinstance(node, ast.Compare))
        aside = {part for node in compared for part in ast.walk(node)}
        others = (
            node
            for node in ast.walk(whole)
            if isinstance(node, ast.Name) and node.id == index.id and node not in aside
            if isinstance(node.ctx, ast.Load) and node.lineno != access.lineno
            if self.last_assignment(node) is made
        )
        return None if any(others) else made.lineno

    def local_stores(self, name: str) -> list[ast.Assign]:
        """Where elements of a thread's own array are set."""
        value = self.value_of(name)
        if value is None or "local" not in names_in(value):
            return []
        statements = (self.statement(access) for access in self.accesses(name, store=True))
        return [statement for statement in statements if isinstance(statement, ast.Assign)]

    def sums(self) -> list[str]:
        """The variables (or arrays) that sums are collected in."""
        names = []
        for statement in self.additions():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                name = root_name(target)
                if name and name not in names:
                    names.append(name)
        return names

    def starts(self, name: str) -> list[ast.stmt]:
        """Where a sum is set to an expression that does not contain the sum itself."""
        return [
            statement
            for statement in self.local_stores(name) or self.assignments(name)
            if isinstance(statement, (ast.Assign, ast.AnnAssign))
            and statement.value is not None
            and name not in names_in(statement.value)
            and not any(multiplies(part) for part in outside(statement.value))
        ]


def _indices_at(access: ast.expr) -> Sequence[ast.expr]:
    """The indices of an access along each axis; a flat one, as `row * N + col`, has two."""
    match access:
        case ast.Subscript():
            indices = indices_of(access)
        case ast.Call(args=[ast.Name(), index, *_]):
            indices = (index,)
        case _:
            indices = ()
    match indices:
        case [ast.BinOp(ast.BinOp(row, ast.Mult(), _), ast.Add(), column)]:
            return row, column
    return indices


def bound_line(source: Source, loop: ast.For | ast.While) -> int:
    """The line of a loop, or of the variable that holds its bound and is no index as well."""
    if isinstance(loop, ast.For):
        arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
        bounds = arguments[:1] if len(arguments) == 1 else arguments[1:2]
    else:
        bounds = [
            part
            for test in ast.walk(loop.test)
            if isinstance(test, ast.Compare)
            for part in test.comparators
        ]
    return _worked_out_at(source, bounds) or loop.lineno


def _worked_out_at(source: Source, bounds: Sequence[ast.expr]) -> int | None:
    """The line of the first of some variables that is computed in one place."""
    for bound in bounds:
        if (
            isinstance(bound, ast.Name)
            and isinstance(source.value_of(bound.id), (ast.BinOp, ast.Call))
            and not _is_an_index(source, bound.id)
        ):
            return source.assignments(bound.id)[0].lineno
    return None


def _is_an_index(source: Source, name: str) -> bool:
    """Does a variable also say which elements of an input or of the output are meant?"""
    return any(
        name in names_in(access.slice)
        for array in source.parameters
        for store in (False, True)
        for access in source.accesses(array, store)
    )


def loop_start_line(source: Source, loop: ast.For | ast.While) -> int:
    """Where a loop gets its first number: of a `while`, the last line before it."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) > 1:
        return _worked_out_at(source, loop.iter.args[:1]) or loop.lineno
    if isinstance(loop, ast.While):
        starts = [
            statement.lineno
            for name in sorted(source.loop_variables(loop.body[0]))
            for statement in source.assignments(name)
            if statement.lineno < loop.lineno
        ]
        if starts:
            return max(starts)
    return bound_line(source, loop)


# --- The value of an expression in the threads of a launch ----------------------------------------
# Numbers from the inputs are not known here, nor what a loop counts: such an expression is None,
# never a guess.


_UNKNOWN = (None, None, None)
_DEEPEST = 40  # parts in parts, and variables that are made of variables
_AXES = ("x", "y", "z")
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_SHORT = {"int": "int64", "byte": "int8", "short": "int16", "intc": "int32", "intp": "int64"}
_CHOOSING = {"min": np.minimum, "max": np.maximum, "abs": np.abs}

# A whole number or a truth value; or an array of them, one for each thread; or a tuple of these.
Value = Any


@dataclass(frozen=True)
class Threads:
    """One thread of a launch, or several: then each number of theirs is an array.

    Attributes:
        thread, block: where they stand: threadIdx and blockIdx, x first.
        block_size, grid: of the launch, x first; like the block, None where it is not known.
        shapes: of the arrays, by the kernel's names for them.
    """

    thread: Sequence[Any]
    block: Sequence[Any] = _UNKNOWN
    block_size: Sequence[Any] = _UNKNOWN
    grid: Sequence[Any] = _UNKNOWN
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def register(self, name: str) -> Sequence[Any] | None:
        """The three numbers of `threadIdx` and its like."""
        known = {
            "threadIdx": self.thread,
            "blockIdx": self.block,
            "blockDim": (*self.block_size, 1, 1)[:3],
            "gridDim": (*self.grid, 1, 1)[:3],
        }
        return known.get(name)

    @property
    def number(self) -> tuple[Any, ...]:
        """What `cuda.grid` gives along each axis."""
        places = zip(self.block, (*self.block_size, 1, 1), self.thread, strict=False)
        return tuple(_computed(lambda b, size, t: b * size + t, *place) for place in places)

    @property
    def length(self) -> tuple[Any, ...]:
        """What `cuda.gridsize` gives along each axis."""
        sizes = zip((*self.grid, 1, 1), (*self.block_size, 1, 1), strict=False)
        return tuple(_computed(operator.mul, *siz) for siz in sizes)[:3]


def value_in(
    source: Source, expression: ast.expr, threads: Threads, depth: int = _DEEPEST
) -> Value | None:
    """What an expression is in these threads; None if more than their places decides."""
    if not depth:
        return None

    def known(part: ast.expr) -> Value | None:
        return value_in(source, part, threads, depth - 1)

    match expression:
        case ast.Constant(int() | float()):
            return expression.value
        case ast.Attribute(ast.Attribute(attr=name) | ast.Name(id=name), axis) if axis in _AXES:
            numbers = threads.register(name)
            return None if numbers is None else numbers[_AXES.index(axis)]
        case ast.Attribute(array, "shape"):
            return _shape(array, threads)
        case ast.Attribute(array, "size"):
            shape = _shape(array, threads)
            return None if shape is None else int(np.prod(shape))
        case ast.Tuple(items):
            each_known = tuple(map(known, items))
            return None if any(each is None for each in each_known) else each_known
        case ast.Subscript(several, place):
            found, index = known(several), known(place)
            if not isinstance(found, tuple) or type(index) is not int:
                return None
            return found[index] if -len(found) <= index < len(found) else None
        case ast.UnaryOp(op, operand):
            value = known(operand)
            negates = isinstance(op, ast.Not)
            return _computed(np.logical_not if negates else UNARY[type(op)], value)
        case ast.BinOp(left, op, right) if type(op) in BINARY:
            return _computed(BINARY[type(op)], known(left), known(right))
        case ast.Compare(left, signs, others) if all(type(sign) in COMPARE for sign in signs):
            values = [known(each) for each in (left, *others)]
            pairs = zip(signs, values, values[1:], strict=False)
            holds = [_computed(COMPARE[type(sign)], one, other) for sign, one, other in pairs]
            return reduce(lambda one, other: _computed(np.logical_and, one, other), holds)
        case ast.BoolOp(op, parts):
            joins = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return reduce(lambda one, other: _computed(joins, one, other), map(known, parts))
        case ast.IfExp(test, body, orelse):
            return _computed(np.where, known(test), known(body), known(orelse))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=given):
            return _called(name, given, threads, known)
        case ast.Name(name):
            return _variable(source, name, threads, depth)
    return None


def _computed(function: Any, *values: Value | None) -> Value | None:
    """The result of a function for these values, if all are known and it can be computed."""
    if any(value is None or isinstance(value, tuple) for value in values):
        return None
    try:
        with np.errstate(all="raise"):
            result = function(*values)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return result if np.ndim(result) else np.asarray(result).item()


def _called(name: str, given: list[ast.expr], threads: Threads, known: Any) -> Value | None:
    """What a call gives: of `cuda.grid`, of `len` or `min`, or of a conversion such as np.int8."""
    arguments = [known(expression) for expression in given]
    match name, arguments:
        case "grid" | "gridsize", [int(axes)] if 1 <= axes <= 3:
            along = threads.number if name == "grid" else threads.length
            return along[0] if axes == 1 else along[:axes]
        case "len", [_]:
            shape = _shape(given[0], threads)
            return shape[0] if shape else None
    if name in _CHOOSING and arguments:
        if isinstance(arguments[0], tuple) and len(arguments) == 1:  # min(C.shape)
            arguments = list(arguments[0])
        if len(arguments) == 1 and name == "abs":
            return _computed(np.abs, *arguments)
        return reduce(lambda one, other: _computed(_CHOOSING[name], one, other), arguments)
    kind = _SHORT.get(name, name)
    if kind in _INTEGERS and len(arguments) == 1:
        return _computed(lambda value: _wrapped(value, kind), *arguments)
    return None


def _wrapped(value: Value, kind: str) -> Any:
    """A number as an integer type has it, which goes on counting as an int64."""
    whole = np.trunc(value).astype(np.int64)
    return whole.astype(kind).astype(np.int64)


def _shape(array: ast.expr, threads: Threads) -> tuple[int, ...] | None:
    """The shape of an array, of one of its rows, or of its transpose."""
    match array:
        case ast.Name(name):
            return threads.shapes.get(name)
        case ast.Subscript(whole, ast.Constant(int()) | ast.Name()):
            shape = _shape(whole, threads)
            return shape[1:] if shape else None
        case ast.Attribute(whole, "T"):
            shape = _shape(whole, threads)
            return None if shape is None else shape[::-1]
    return None


def _variable(source: Source, name: str, threads: Threads, depth: int) -> Value | None:
    """The value of a variable that is set in one place, and by no loop."""
    counted = any(name in names for names in map(_counted_with, source.loops()))
    assigned = source.assignments(name)
    if not assigned and not counted:
        constant = source.constants.get(name)
        return constant.item() if isinstance(constant, np.generic) else constant
    if counted or len(assigned) != 1 or isinstance(assigned[0], ast.AugAssign):
        return None
    value = assigned[0].value
    targets = assigned[0].targets if isinstance(assigned[0], ast.Assign) else [assigned[0].target]
    for path in filter(None, (_place_of(name, target) for target in targets)):
        part, place = value, list(path)
        while place[1:] and isinstance(part, ast.Tuple | ast.List):
            part = part.elts[place.pop(0)] if place[0] < len(part.elts) else None
        found = None if part is None else value_in(source, part, threads, depth - 1)
        for index in place[:-1]:
            found = found[index] if isinstance(found, tuple) and index < len(found) else None
        return found
    return None


def _counted_with(loop: ast.For | ast.While) -> set[str]:
    targets = flat(loop.target) if isinstance(loop, ast.For) else ()
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _place_of(name: str, target: ast.expr) -> tuple[int, ...]:
    """The place of a name in the target of an assignment, with a -1 behind it; () if absent."""
    if isinstance(target, ast.Name):
        return (-1,) if target.id == name else ()
    for place, part in enumerate(getattr(target, "elts", ())):
        inner = _place_of(name, part)
        if inner:
            return (place, *inner)
    return ()
