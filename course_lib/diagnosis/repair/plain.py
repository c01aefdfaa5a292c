"""The changes of one expression for which plain functions give reason: fields, units, rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import Ingredients, expression
from course_lib.diagnosis.source.tree import Path

ROUNDED = ("int", "round", "math.floor", "math.ceil")


def of_plain_expressions(function: Ingredients) -> Iterator[Edit]:
    """What a value can be in a function that is called and not launched, in the text's order."""
    for node, path in function.nodes:
        if path and isinstance(node, ast.expr) and function.is_read(node, path):
            yield from _with_fields(node, function, path)
            yield from _rounded_otherwise(node, function, path)
            if isinstance(node, ast.Call):
                yield from _of_a_call(node, function, path)


def _with_fields(node: ast.expr, function: Ingredients, path: Path) -> Iterator[Edit]:
    """A field of a record in its place."""
    text = ast.unparse(node)
    if text in function.fields or text in function.whole_at(path):
        for other in function.fields:
            if other != text:
                cost = 1 if text in function.fields else 2
                yield function.value("name", cost, path, expression(other))
    elif isinstance(node, ast.Constant):
        for other in function.fields if type(node.value) is int else ():
            yield function.value("field", 1, path, expression(other))


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
    """One of its values alone."""
    if len(node.args) < 2 or any(isinstance(argument, ast.Starred) for argument in node.args):
        return
    for value in node.args:
        yield function.value("surplus", 2, path, value)
