"""What a piece of a syntax tree names, without the functions around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

THREAD, BLOCK = {"threadIdx"}, {"blockIdx", "blockDim", "grid", "gridsize", "gridDim"}


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, without those that only compute an index."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Subscript) and child is node.slice):
            yield from outside(child)


def part_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement gives a variable: for `y, x = a, b` and "x", that is b."""
    value = getattr(statement, "value", None)
    for target in statement.targets if isinstance(statement, ast.Assign) else []:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, part in zip(target.elts, value.elts, strict=False):
                if isinstance(each, ast.Name) and each.id == name:
                    return part
    return value


def names_in(node: ast.AST) -> set[str]:
    """Every variable and attribute name in a piece of the tree."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def names_bound(node: ast.AST) -> frozenset[str]:
    """The variables that a piece of the tree gives values to."""
    return _names_with(node, ast.Store)


def names_read(node: ast.AST) -> frozenset[str]:
    """The variables whose values it takes."""
    return _names_with(node, ast.Load)


def _names_with(node: ast.AST, context: type[ast.expr_context]) -> frozenset[str]:
    return frozenset(
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, context)
    )


def root_name(target: ast.AST) -> str | None:
    """The variable behind `C[y, x]` or `acc`."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def loop_names(loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop counts with."""
    return names_in(loop.target if isinstance(loop, ast.For) else loop.test)


def indices_of(access: ast.Subscript) -> Sequence[ast.expr]:
    """The index expressions: two for `A[y, x]`, and for `A[y][x]` those of the last."""
    return access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]


def flat(target: ast.AST) -> Iterator[ast.AST]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from flat(each)
    else:
        yield target


def variables_in(node: ast.AST) -> set[str]:
    """The variables in an expression; the x of `cuda.threadIdx.x` is none."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_number(value: ast.AST) -> bool:
    """Is it `cuda.threadIdx.x` and nothing else, perhaps in another type?"""
    if isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, ast.Attribute)


def is_constant(node: ast.expr) -> bool:
    """A number, perhaps in a type: `0`, `float32(1)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant | ast.UnaryOp)


def multiplies(node: ast.AST) -> bool:
    """Is it a product of numbers, and not one of thread and block numbers?"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    elements = any(isinstance(part, ast.Subscript) for part in outside(node))
    return elements or not names_in(node) & {"threadIdx", "blockIdx"}
