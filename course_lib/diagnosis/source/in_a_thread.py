"""What an expression is in one thread, as far as its index in the block decides that."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence

from course_lib.diagnosis.source.nodes import part_of
from course_lib.diagnosis.source.source import Source

_DEEPEST = 8  # variables that are made of variables
_AXES = ("x", "y", "z")
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def value_in(
    source: Source, expression: ast.expr, thread: Sequence[int], depth: int = _DEEPEST
) -> int | None:
    """What an expression is in a thread; None if more than its index in the block decides."""
    match expression:
        case ast.Constant(int(number)):
            return number
        case ast.Attribute(ast.Attribute(attr="threadIdx"), axis) if axis in _AXES:
            return thread[_AXES.index(axis)]
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            one = value_in(source, left, thread, depth)
            other = value_in(source, right, thread, depth)
            if (
                one is None
                or other is None
                or (not other and isinstance(op, ast.FloorDiv | ast.Mod))
            ):
                return None
            return _OPERATORS[type(op)](one, other)
        case ast.Call(func=ast.Attribute(attr=name), args=[number]) if "int" in name:
            return value_in(source, number, thread, depth)  # a conversion, as np.uint32
        case ast.Name(name) if depth:
            assigned = source.assignments(name)
            behind = part_of(assigned[0], name) if len(assigned) == 1 else None
            return None if behind is None else value_in(source, behind, thread, depth - 1)
    return None
