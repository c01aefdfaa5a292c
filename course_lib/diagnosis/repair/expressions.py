"""The changes of one expression: another name, number, operator, comparison, index.

Each rule is a function of a node; it yields changes: their kind, their cost, and what stands there
instead, as a text or a tree. Last come the rules for which only plain functions give reason.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from functools import singledispatch
from itertools import product

import numpy as np

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import REGISTERS, Ingredients, expression
from course_lib.diagnosis.source.tree import Path, last_name, names_bound, names_read
from course_lib.emulator.language import types as T

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
SHUFFLES = ("shfl_xor_sync", "shfl_down_sync", "shfl_up_sync")  # get a lane and a distance
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
# What counts along the whole grid, and what counts the same within a block.
OF_THE_GRID = {"grid": "threadIdx", "gridsize": "blockDim"}
ROUNDED = ("int", "round", "math.floor", "math.ceil")
Change = tuple[str, int, str | ast.expr]
Rule = Callable[[ast.expr, Ingredients, Path], Iterator[Change]]


def of_expressions(function: Ingredients) -> Iterator[Edit]:
    """All changes of one expression of a function, in the order of its text."""
    return _changed_by(_changes, function)


def of_plain_expressions(function: Ingredients) -> Iterator[Edit]:
    """What a value can be in a function that is called and not launched, in the text's order."""
    return _changed_by(_plain_changes, function)


def _changed_by(rule: Rule, function: Ingredients) -> Iterator[Edit]:
    for node, path in function.nodes:
        if not path or isinstance(node, ast.Slice):  # `opcode[:4]`
            continue
        if isinstance(node, ast.expr) and function.is_read(node, path):
            for kind, cost, new in rule(node, function, path):
                yield function.value(kind, cost, path, new)
            if rule is _changes:
                yield from _parts_scaled(node, function, path)


def _changes(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Change]:
    yield from _of_node(node, function, path)
    if function.is_whole(node) and _is_of_an_index(node, function, path):
        yield from _terms(node, function, path)
    if function.kind_of(node) == T.BOOL and path[-1][0] in ("test", "value"):
        # What a name or a call stands for is changed instead.
        if not isinstance(node, ast.Name | ast.Call | ast.Constant):
            yield from _clauses(node, function, path)


# --- By the kind of the node ----------------------------------------------------------------------


@singledispatch
def _of_node(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Change]:
    yield from ()


@_of_node.register
def _of_name(node: ast.Name, function: Ingredients, path: Path) -> Iterator[Change]:
    if function.kind_of(node) == T.BOOL:
        test = function.first_value(node)
        for part in test.values if isinstance(test, ast.BoolOp) else ():
            yield "clause left out", 2, part  # of what the name stands for
    if function.is_whole(node):
        for other in function.whole_at(path):
            if other != node.id:
                alike = (other in function.bounds) == (node.id in function.bounds)
                yield "name", 1 if alike else 3, other
    elif node.id in function.real:
        for other in function.real:
            if other != node.id and other in function.known_at(path):
                yield "name", 1, other


@_of_node.register
def _of_number(node: ast.Constant, function: Ingredients, path: Path) -> Iterator[Change]:
    number = node.value
    if not (type(number) is int or type(number) is float):
        return
    if path[-1][0] == "shape" or _is_axis(function, path):
        return
    near = {0, 1, 2, number + 1, number - 1, number}
    for other in {0, 1, 2, number + 1, number - 1} - {number}:
        yield "number", 1, ast.Constant(type(number)(other))
    for other in {*function.needed(number)} - near:
        yield "number", 1, ast.Constant(other)
    if type(number) is int:
        others = {*function.numbers, *((number // 2, 2 * number) if number > 3 else ())}
        for other in others - near - {*function.needed(number)}:
            yield "number", 2, ast.Constant(other)
        for name in function.whole_at(path):
            yield "number varies", 2, name
        for size in function.sizes if isinstance(function.at[path[:-1]], ast.Compare) else ():
            yield "number varies", 2, size


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
def _of_element(node: ast.Subscript, function: Ingredients, path: Path) -> Iterator[Change]:
    match node.value:
        case ast.Attribute(attr="shape") if function.is_whole(node):
            for size in function.sizes:
                if size != ast.unparse(node):
                    yield "size", 1, size
        case ast.Name(id=name) if name in function.arrays:
            for other, axes in function.arrays.items():
                if other != name and axes == function.arrays[name]:
                    given = {name, other} & {*function.typing.kernel.parameters}
                    new = ast.Subscript(expression(other), node.slice, ast.Load())
                    yield "array", 3 if len(given) == 1 else 2, new
            for variable in function.real if T.is_float(function.kind_of(node)) else ():
                if variable in function.known_at(path):
                    yield "variable", 2, variable


@_of_node.register
def _of_register(node: ast.Attribute, function: Ingredients, path: Path) -> Iterator[Change]:
    owner, axis = node.value, node.attr
    if not isinstance(owner, ast.Attribute) or owner.attr not in REGISTERS:
        return
    for other in "xy":
        if other != axis:
            yield "axis", 1, f"{ast.unparse(owner)}.{other}"
    times, cost = ("gridDim", 2) if owner.attr == "blockDim" else ("blockDim", 3)
    yield "factor", cost, f"{ast.unparse(node)} * {function.cuda}.{times}.{axis}"
    for side in function.sides:
        yield "factor", 3, f"{ast.unparse(node)} * {side}"
    for side in function.sides if owner.attr.endswith("Dim") else ():
        yield "register", 2, side
    for other in REGISTERS:
        if other != owner.attr:
            yield "register", 2, f"{ast.unparse(owner.value)}.{other}.{axis}"


@_of_node.register
def _of_comparison(node: ast.Compare, function: Ingredients, path: Path) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[one, two], comparators=[ast.BinOp(m, ast.BitAnd(), x), n]):
            # `y < m & x < n`, in which `&` is worked out before both tests
            both: list[ast.expr] = [
                ast.Compare(node.left, [one], [m]),
                ast.Compare(x, [two], [n]),
            ]
            yield "brackets", 1, ast.BoolOp(ast.And(), both)
    sides = (node.left, *node.comparators)
    is_float = any(T.is_float(function.kind_of(side)) for side in sides)
    for number, written in enumerate(node.ops):
        for other in COMPARISONS:
            alike = type(written).__name__[:2] == other.__name__[:2]
            if type(written) is not other and (alike or len(node.ops) == 1):
                kind = "larger or smaller" if is_float and not alike else "comparison"
                yield kind, 1 if alike else 2, compared_by(node, number, other)


def compared_by(node: ast.Compare, number: int, other: type[ast.cmpop]) -> ast.Compare:
    """A comparison with another sign in one place."""
    signs = [*node.ops[:number], other(), *node.ops[number + 1 :]]
    return ast.Compare(node.left, signs, node.comparators)


@_of_node.register
def _of_conditions(node: ast.BoolOp, function: Ingredients, path: Path) -> Iterator[Change]:
    turned = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    yield "and/or", 1, ast.BoolOp(turned, node.values)
    for number in range(len(node.values)):
        rest = node.values[:number] + node.values[number + 1 :]
        yield "clause left out", 2, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


@_of_node.register
def _of_call(node: ast.Call, function: Ingredients, path: Path) -> Iterator[Change]:
    for other in SHUFFLES if last_name(node.func) in SHUFFLES else ():
        if other != last_name(node.func):
            new = ast.Call(expression(f"{function.cuda}.{other}"), node.args, node.keywords)
            yield "shuffle", 1, new
    if last_name(node.func) in OF_THE_GRID and function.is_whole(node) and function.cuda:
        yield "register", 2, f"{function.cuda}.{OF_THE_GRID[last_name(node.func)]}.x"
    for only in node.args if len(node.args) == 2 and last_name(node.func) in ("min", "max") else ():
        yield "call left out", 2, only
    if len(node.args) == 1 and path[-1][0] != "func":
        only = node.args[0]
        kind, given = function.kind_of(node), function.kind_of(only)
        if T.is_integer(kind) and T.is_float(given):
            down = ast.BinOp(only, ast.FloorDiv(), ast.Constant(1))
            yield "toward zero", 2, ast.Call(node.func, [down], [])
        if isinstance(kind, np.dtype) and isinstance(given, np.dtype):
            narrows = kind.kind == given.kind == "i" and kind.itemsize < given.itemsize
            yield *(("narrow type", 1) if narrows else ("call left out", 2)), only
        if isinstance(only, ast.Constant) and T.is_float(function.kind_of(node)):
            for extreme in (-math.inf, math.inf):  # what a maximum or a minimum begins with
                yield "zero", 2, ast.Constant(extreme)


@_of_node.register
def _of_operator(node: ast.BinOp, function: Ingredients, path: Path) -> Iterator[Change]:
    left, op, right = node.left, node.op, node.right
    yield "surplus", 2, left
    yield "surplus", 2, right
    for other in OPERATORS:
        if not isinstance(op, other):
            yield "operator", 2, ast.BinOp(left, other(), right)
    is_cast = T.is_float(function.kind_of(function.at[path[:-1]]))
    if isinstance(op, ast.FloorDiv) and (function.more or is_cast):  # it need not be whole
        yield "operator", 2, ast.BinOp(left, ast.Div(), right)
    if isinstance(op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
        yield "turned", 1, ast.BinOp(right, op, left)
    for later in _more_on_the_right(node):
        yield "brackets", 1, later
    if isinstance(right, ast.BinOp):
        yield "brackets", 1, ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)
    if isinstance(op, ast.FloorDiv) and function.is_whole(node):
        yield "rounding", 1, f"-(-({ast.unparse(left)}) // ({ast.unparse(right)}))"


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


def _parts_scaled(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """One side of a sum times the side of a tile; or what is left of it, or of an argument, where
    it is divided by that."""
    parts: list[tuple[str, int | None]] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.BitXor):
        parts = [("left", None), ("right", None)] if function.is_whole(node) else []
    if isinstance(node, ast.Call) and not isinstance(function.kind_of(node), T.RangeType):
        parts = [("args", number) for number in range(len(node.args))]
    for place, side in product(parts, function.sides):
        part = function.at[(*path, place)]
        if isinstance(part, ast.Name) and function.is_whole(part):
            if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitXor):
                yield function.value("factor", 2, (*path, place), f"{part.id} * {side}")
            yield function.value("remainder", 3, (*path, place), f"{part.id} % {side}")


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


def _terms(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Change]:
    """A term or factor more, or a size in its place."""
    text, sides = ast.unparse(node), function.sides
    for sign in "+-":
        yield "off by one", 2, f"({text}) {sign} 1"
    for sign in "+-" if function.names_two else "":
        yield "term", 3, f"({text}) {sign} 2"
    for name in function.places_at(path):
        yield "term", 3, f"({text}) + {name}"
        yield "term", 3, f"({text}) - {name}"
        for side in sides:
            yield "term", 4, f"({text}) + {name} * {side}"
    for side in sides:
        yield "term", 3, f"({text}) + {side}"
    for side in sorted({*sides, *function.bounds_at(path)} - {text}):
        yield "factor", 3, f"({text}) * {side}"
    for number in function.more or (sides if path[-1][0] == "slice" else ()):
        yield "factor", 3, f"({text}) // {number}"
    for axis in "xy" if function.cuda else "":
        for side in (f"{function.cuda}.blockDim.{axis}", *sides):
            yield "block", 3, f"({text}) + {function.cuda}.blockIdx.{axis} * {side}"
    of_a_loop = isinstance(function.kind_of(function.at[path[:-1]]), T.RangeType)
    is_bound = of_a_loop and isinstance(node, ast.BinOp)  # that of a part, as `first + length`
    for size in function.sizes:
        if size != text:
            yield "size", 2, size
        if is_bound and size != text:
            yield "limit", 4, f"min({text}, {size})"


def _clauses(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Change]:
    """One condition more in a test, or in what is tested later."""
    tested = [function.at[path[:-1]]]
    if path[-1][0] == "value":
        own = names_bound(tested[0])
        tested = [
            branch
            for branch, _ in function.nodes
            if isinstance(branch, ast.If | ast.IfExp) and names_read(branch.test) & own
        ]
    leaves = any(isinstance(branch, ast.If) and _leaves(branch) for branch in tested)
    tested = [function.tree] if leaves else tested  # whatever the others go on to do
    ends = sorted({test for branch in tested for test in function.tests_of_indices(branch)})
    starts = sorted({test for branch in tested for test in function.starts_of_indices(branch)})
    likely = [*ends, *starts, *(" and ".join(tests) for tests in (ends, starts) if len(tests) > 1)]
    bounds = (*sorted(function.bounds_at(path)), *function.sizes)
    others = [f"{name} < {bound}" for name in function.places_at(path) for bound in bounds]
    if isinstance(node, ast.Compare):  # a number may have to lie between two whole ones
        sides = [
            side for side in (node.left, *node.comparators) if T.is_float(function.kind_of(side))
        ]
        wholes = [f"{name}{more}" for name in function.places_at(path) for more in ("", " + 1")]
        others += [
            f"{ast.unparse(side)} {sign} {whole}"
            for side in sides
            for sign in ("<", ">=")
            for whole in wholes
        ]
    for cost, clauses in ((2, likely), (3, others)):
        for clause in map(expression, clauses):
            if not function.knows(clause, path):
                continue
            if leaves:
                other = ast.UnaryOp(ast.Not(), clause)
                yield "clause missing", cost, ast.BoolOp(ast.Or(), [node, other])
            else:
                yield "clause missing", cost, ast.BoolOp(ast.And(), [node, clause])


def _leaves(branch: ast.If) -> bool:
    """Do the threads that pass this test leave the kernel, or the turn of a loop?"""
    return isinstance(branch.body[-1], ast.Return | ast.Continue | ast.Break)


# --- Fields, units and rounding, in plain functions -----------------------------------------------


def _plain_changes(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Change]:
    text = ast.unparse(node)
    is_field = text in function.fields
    if is_field or text in function.whole_at(path):
        for other in function.fields:
            if other != text:
                yield "name", 1 if is_field else 2, other
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        for other in function.fields:
            yield "field", 1, other
    for quotient in _rounded_otherwise(node):
        yield "rounding", 1, quotient
    for product_of_call in _factor_moved(node):
        yield "brackets", 2, product_of_call
    match node:
        case ast.Call(args=[_, _, *_]):
            if not any(isinstance(argument, ast.Starred) for argument in node.args):
                for value in node.args:  # one of its values alone
                    yield "surplus", 2, value


def _factor_moved(node: ast.expr) -> Iterator[ast.expr]:
    """`rounded(n * size)` for `n * rounded(size)`, or the other way round."""
    match node:
        case ast.BinOp(factor, ast.Mult(), ast.Call(ast.Name(), [given, *rest]) as call):
            inside = ast.BinOp(factor, ast.Mult(), given)
            yield ast.Call(call.func, [inside, *rest], call.keywords)
        case ast.BinOp(ast.Call(ast.Name(), [given, *rest]) as call, ast.Mult(), factor):
            inside = ast.BinOp(given, ast.Mult(), factor)
            yield ast.Call(call.func, [inside, *rest], call.keywords)
        case ast.Call(ast.Name(), [ast.BinOp(one, ast.Mult(), two), *rest]):
            for factor, given in ((one, two), (two, one)):
                call = ast.Call(node.func, [given, *rest], node.keywords)
                yield ast.BinOp(factor, ast.Mult(), call)


def _rounded_otherwise(node: ast.expr) -> Iterator[str]:
    """A quotient that is rounded up for one that is rounded down, or otherwise."""
    up, down = "-(-({}) // ({}))", "({}) // ({})"
    match node:
        case ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), one), ast.FloorDiv(), two)):
            yield down.format(ast.unparse(one), ast.unparse(two))
        case ast.BinOp(ast.BinOp(one, ast.FloorDiv(), two), ast.Add(), ast.Constant(1)):
            yield up.format(ast.unparse(one), ast.unparse(two))
        case ast.Call(args=[ast.BinOp(one, ast.Div(), two)]) if ast.unparse(node.func) in ROUNDED:
            yield up.format(ast.unparse(one), ast.unparse(two))
            yield down.format(ast.unparse(one), ast.unparse(two))
