"""The changes of one expression: another name, number, operator, comparison, index."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import singledispatch
from itertools import product

import numpy as np

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import REGISTERS, Ingredients, expression, named
from course_lib.diagnosis.source.tree import Path, copy_of, last_name, names_bound, names_read
from course_lib.emulator.language import types as T

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
SHUFFLES = ("shfl_xor_sync", "shfl_down_sync", "shfl_up_sync")  # get a lane and a distance
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


def of_expressions(function: Ingredients) -> Iterator[Edit]:
    """All changes of one expression of a function, in the order of its text."""
    for node, path in function.nodes:
        if path and isinstance(node, ast.expr) and function.is_read(node, path):
            yield from _of_node(node, function, path)
            if function.is_whole(node) and _is_of_an_index(node, function, path):
                yield from _terms(node, function, path)
            if function.kind_of(node) == T.BOOL and path[-1][0] in ("test", "value"):
                yield from _clauses(node, function, path)


# --- By the kind of the node ----------------------------------------------------------------------


@singledispatch
def _of_node(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    yield from ()


@_of_node.register
def _of_name(node: ast.Name, function: Ingredients, path: Path) -> Iterator[Edit]:
    if function.is_whole(node):
        for other in function.whole_at(path):
            if other != node.id:
                alike = (other in function.bounds) == (node.id in function.bounds)
                yield function.value("name", 1 if alike else 3, path, named(other))
    elif node.id in function.real:
        for other in function.real:
            if other != node.id and other in function.known_at(path):
                yield function.value("name", 1, path, named(other))


@_of_node.register
def _of_number(node: ast.Constant, function: Ingredients, path: Path) -> Iterator[Edit]:
    number = node.value
    if not (type(number) is int or type(number) is float):
        return
    if path[-1][0] == "shape" or _is_axis(function, path):
        return
    for other in {0, 1, 2, number + 1, number - 1} - {number}:
        yield function.value("number", 1, path, ast.Constant(type(number)(other)))
    for other in {*function.needed(number)} - {0, 1, 2, number - 1, number, number + 1}:
        yield function.value("number", 1, path, ast.Constant(other))
    if type(number) is int:
        others = {*function.numbers, *((number // 2, 2 * number) if number > 3 else ())}
        for other in others - {0, 1, 2, number - 1, number, number + 1, *function.needed(number)}:
            yield function.value("number", 2, path, ast.Constant(other))
        for name in function.whole_at(path):
            yield function.value("number varies", 2, path, named(name))


def _is_axis(function: Ingredients, path: Path) -> bool:
    """Is it the number in `A.shape[0]` or `cuda.grid(2)`?"""
    parent = function.at[path[:-1]]
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.value, ast.Attribute)
    if not isinstance(parent, ast.Call):
        return False
    if ast.unparse(parent.func).endswith(("grid", "gridsize")):
        return True
    kind = function.kind_of(parent)
    return not T.is_scalar(kind) and not isinstance(kind, T.RangeType)


@_of_node.register
def _of_element(node: ast.Subscript, function: Ingredients, path: Path) -> Iterator[Edit]:
    match node.value:
        case ast.Attribute(attr="shape") if function.is_whole(node):
            for size in function.sizes:
                if size != ast.unparse(node):
                    yield function.value("size", 1, path, expression(size))
        case ast.Name(id=name) if name in function.arrays:
            for other, axes in function.arrays.items():
                if other != name and axes == function.arrays[name]:
                    given = {name, other} & {*function.typing.kernel.parameters}
                    new = ast.Subscript(named(other), node.slice, ast.Load())
                    yield function.value("array", 3 if len(given) == 1 else 2, path, new)
            for variable in function.real if T.is_float(function.kind_of(node)) else ():
                if variable in function.known_at(path):
                    yield function.value("variable", 2, path, named(variable))


@_of_node.register
def _of_register(node: ast.Attribute, function: Ingredients, path: Path) -> Iterator[Edit]:
    owner, axis = node.value, node.attr
    if not isinstance(owner, ast.Attribute) or owner.attr not in REGISTERS:
        return
    for other in "xy":
        if other != axis:
            turned = ast.Attribute(copy_of(owner), other, ast.Load())
            yield function.value("axis", 1, path, turned)
    times, cost = ("gridDim", 2) if owner.attr == "blockDim" else ("blockDim", 3)
    sides = ((f"{function.cuda}.{times}.{axis}", cost), *((side, 3) for side in function.sides))
    for side, cost in sides:
        yield function.value("factor", cost, path, expression(f"{ast.unparse(node)} * {side}"))
    for side in function.sides if owner.attr.endswith("Dim") else ():
        yield function.value("register", 2, path, expression(side))
    for other in REGISTERS:
        if other != owner.attr:
            base = ast.Attribute(copy_of(owner.value), other, ast.Load())
            yield function.value("register", 2, path, ast.Attribute(base, axis, ast.Load()))


@_of_node.register
def _of_comparison(node: ast.Compare, function: Ingredients, path: Path) -> Iterator[Edit]:
    if len(node.ops) > 1:
        yield from _tests_apart(node, function, path)
        return
    written = type(node.ops[0])
    is_float = any(
        T.is_float(function.kind_of(comparator)) for comparator in (node.left, *node.comparators)
    )
    for other in COMPARISONS:
        if other is not written:
            alike = written.__name__[:2] == other.__name__[:2]
            kind = "larger or smaller" if is_float and not alike else "comparison"
            new = ast.Compare(node.left, [other()], node.comparators)
            yield function.value(kind, 1 if alike else 2, path, new)


def _tests_apart(node: ast.Compare, function: Ingredients, path: Path) -> Iterator[Edit]:
    """`y < m and x < n` for `y < m & x < n`, in which `&` is worked out before both tests."""
    match node:
        case ast.Compare(ops=[one, two], comparators=[ast.BinOp(m, ast.BitAnd(), x), n]):
            tests: list[ast.expr] = [
                ast.Compare(node.left, [one], [m]),
                ast.Compare(x, [two], [n]),
            ]
            yield function.value("brackets", 1, path, ast.BoolOp(ast.And(), tests))


@_of_node.register
def _of_conditions(node: ast.BoolOp, function: Ingredients, path: Path) -> Iterator[Edit]:
    turned = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    yield function.value("and/or", 1, path, ast.BoolOp(turned, node.values))
    for number in range(len(node.values)):
        rest = node.values[:number] + node.values[number + 1 :]
        new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield function.value("clause left out", 2, path, new)


@_of_node.register
def _of_call(node: ast.Call, function: Ingredients, path: Path) -> Iterator[Edit]:
    for other in SHUFFLES if last_name(node.func) in SHUFFLES else ():
        if other != last_name(node.func):
            new = ast.Call(expression(f"{function.cuda}.{other}"), node.args, node.keywords)
            yield function.value("shuffle", 1, path, new)
    if len(node.args) == 1 and path[-1][0] != "func":
        only = node.args[0]
        kind, given = function.kind_of(node), function.kind_of(only)
        if T.is_integer(kind) and T.is_float(given):
            down = ast.Call(node.func, [ast.BinOp(only, ast.FloorDiv(), ast.Constant(1))], [])
            yield function.value("toward zero", 2, path, down)
        if isinstance(kind, np.dtype) and isinstance(given, np.dtype):
            narrows = kind.kind == given.kind == "i" and kind.itemsize < given.itemsize
            yield function.value(
                *("narrow type", 1) if narrows else ("call left out", 2), path, only
            )
        if isinstance(only, ast.Constant) and T.is_float(function.kind_of(node)):
            for extreme in (-math.inf, math.inf):  # what a maximum or a minimum begins with
                yield function.value("zero", 2, path, ast.Constant(extreme))


@_of_node.register
def _of_operator(node: ast.BinOp, function: Ingredients, path: Path) -> Iterator[Edit]:
    left, op, right = node.left, node.op, node.right
    yield function.value("surplus", 2, path, left)
    yield function.value("surplus", 2, path, right)
    for other in OPERATORS:
        if not isinstance(op, other):
            yield function.value("operator", 2, path, ast.BinOp(left, other(), right))
    if isinstance(op, ast.FloorDiv) and function.more:  # whose numbers need not be whole
        yield function.value("operator", 2, path, ast.BinOp(left, ast.Div(), right))
    if isinstance(op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
        yield function.value("turned", 1, path, ast.BinOp(right, op, left))
    if isinstance(op, ast.Add | ast.Sub) and function.is_whole(node):
        for place, side in product(("left", "right"), function.sides):
            name = getattr(node, place)
            if isinstance(name, ast.Name):
                scaled = ast.BinOp(name, ast.Mult(), expression(side))
                yield function.value("factor", 2, (*path, (place, None)), scaled)
    for later in _more_on_the_right(node):
        yield function.value("brackets", 1, path, later)
    if isinstance(right, ast.BinOp):
        earlier = ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)
        yield function.value("brackets", 1, path, earlier)
    if isinstance(op, ast.FloorDiv) and function.is_whole(node):
        up = expression(f"-(-({ast.unparse(left)}) // ({ast.unparse(right)}))")
        yield function.value("rounding", 1, path, up)


def _more_on_the_right(node: ast.BinOp) -> Iterator[ast.expr]:
    """a * b * c + d as a * b * (c + d), and as a * (b * c + d)."""
    left, passed = node.left, list[ast.BinOp]()
    while isinstance(left, ast.BinOp):
        part = left.right
        for outer in reversed(passed):
            part = ast.BinOp(part, outer.op, outer.right)
        yield ast.BinOp(left.left, left.op, ast.BinOp(part, node.op, node.right))
        passed.append(left)
        left = left.left


# --- What an index or a test lacks ----------------------------------------------------------------


def _is_of_an_index(node: ast.expr, function: Ingredients, path: Path) -> bool:
    """Is it an index, a bound, a side of a comparison, or the value of a variable?"""
    parent, place = function.at[path[:-1]], path[-1][0]
    if isinstance(node, ast.Constant) and place != "args":
        return False
    if place in ("slice", "comparators", "value", "elts"):
        return True
    if place == "left" and isinstance(parent, ast.Compare):
        return True
    return isinstance(function.kind_of(parent), T.RangeType)


def _terms(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """A term or factor more, or a size in its place."""
    text, sides = ast.unparse(node), function.sides
    for sign in "+-":
        yield function.value("off by one", 2, path, expression(f"({text}) {sign} 1"))
    for sign in "+-" if function.names_two else "":
        yield function.value("term", 3, path, expression(f"({text}) {sign} 2"))
    for name in function.places_at(path):
        yield function.value("term", 3, path, expression(f"({text}) + {name}"))
        yield function.value("term", 3, path, expression(f"({text}) - {name}"))
        for side in sides:
            yield function.value("term", 4, path, expression(f"({text}) + {name} * {side}"))
    for side in sides:
        yield function.value("term", 3, path, expression(f"({text}) + {side}"))
    for side in sorted({*sides, *function.bounds_at(path)} - {text}):
        yield function.value("factor", 3, path, expression(f"({text}) * {side}"))
    for number in function.more:
        yield function.value("factor", 3, path, expression(f"({text}) // {number}"))
    for axis in "xy" if function.cuda else "":
        for side in (f"{function.cuda}.blockDim.{axis}", *sides):
            new = expression(f"({text}) + {function.cuda}.blockIdx.{axis} * {side}")
            yield function.value("block", 3, path, new)
    for size in function.sizes:
        if size != text:
            yield function.value("size", 2, path, expression(size))


def _clauses(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """One condition more in a test, or in what is tested later."""
    tested = [function.at[path[:-1]]]
    if path[-1][0] == "value":
        own = names_bound(tested[0])
        tested = [
            branch
            for branch, _ in function.nodes
            if isinstance(branch, ast.If | ast.IfExp) and names_read(branch.test) & own
        ]
    likely = sorted({test for branch in tested for test in function.tests_of_indices(branch)})
    bounds = (*sorted(function.bounds_at(path)), *function.sizes)
    others = [f"{name} < {bound}" for name in function.places_at(path) for bound in bounds]
    for cost, clauses in ((2, likely), (3, others)):
        for clause in map(expression, clauses):
            if names_read(clause) & function.variables <= function.known_at(path):
                new = ast.BoolOp(ast.And(), [node, clause])
                yield function.value("clause missing", cost, path, new)
