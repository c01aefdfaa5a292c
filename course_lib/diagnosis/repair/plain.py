"""The changes of one expression for which plain functions give reason: fields, units, rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import Ingredients, expression
from course_lib.diagnosis.source.tree import Path

ROUNDED = ("int", "round", "math.floor", "math.ceil")
NUMBERS = (ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript)
ENDS = {"min": "max", "max": "min"}


def of_plain_expressions(function: Ingredients) -> Iterator[Edit]:
    """What a value can be in a function that is called and not launched, in the text's order."""
    for node, path in function.nodes:
        if path and isinstance(node, ast.expr) and function.is_read(node, path):
            yield from _with_fields(node, function, path)
            yield from _rounded_otherwise(node, function, path)
            if isinstance(node, ast.Call):
                yield from _of_a_call(node, function, path)


def _with_fields(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """A field of a record in its place; or one that is named nowhere, added or as its unit."""
    text = ast.unparse(node)
    if text in function.fields or text in function.whole_at(path):
        for other in function.fields:
            if other != text:
                cost = 1 if text in function.fields else 2
                yield function.value("name", cost, path, expression(other))
    elif isinstance(node, ast.Constant):
        for other in function.fields if type(node.value) is int else ():
            yield function.value("field", 1, path, expression(other))
        return
    if isinstance(node, NUMBERS) and function.is_whole(node):
        for other in function.unnamed_fields:
            yield function.value("term", 3, path, expression(f"({text}) + {other}"))
            up = expression(f"-(-({text}) // {other}) * {other}")
            yield function.value("unit", 2, path, up)


def _rounded_otherwise(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    match node:
        case ast.UnaryOp(
            op=ast.USub(), operand=ast.BinOp(ast.UnaryOp(ast.USub(), above), ast.FloorDiv(), below)
        ):
            yield _quotient(function, path, above, below, up=False)
        case ast.BinOp(ast.BinOp(above, ast.FloorDiv(), below), ast.Add(), ast.Constant(1)):
            yield _quotient(function, path, above, below, up=True)
        case ast.Call(args=[ast.BinOp(above, ast.Div(), below)]):
            if ast.unparse(node.func) in ROUNDED:
                yield _quotient(function, path, above, below, up=True)
                yield _quotient(function, path, above, below, up=False)


def _quotient(
    function: Ingredients, path: Path, above: ast.expr, below: ast.expr, *, up: bool
) -> Edit:
    one, two = ast.unparse(above), ast.unparse(below)
    text = f"-(-({one}) // ({two}))" if up else f"({one}) // ({two})"
    return function.value("rounding", 1, path, expression(text))


def _of_a_call(node: ast.Call, function: Ingredients, path: Path) -> Iterator[Edit]:
    """One of its values alone, all but one, one more, or the other end of them."""
    if len(node.args) < 2 or any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    for value in node.args:
        yield function.value("surplus", 2, path, value)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in ENDS:
        return
    yield function.value("end", 1, path, _call(ENDS[name], node.args))
    for number in range(len(node.args)) if len(node.args) > 2 else ():
        rest = node.args[:number] + node.args[number + 1 :]
        yield function.value("surplus", 2, path, _call(name, rest))
    own = {ast.unparse(argument) for argument in node.args}
    for other in sorted({*function.whole_at(path), *function.fields} - own):
        more = [*node.args, expression(other)]
        yield function.value("value missing", 2, path, _call(name, more))


def _call(name: str, values: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), values, [])
