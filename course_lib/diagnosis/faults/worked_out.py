"""Which index left an array: the one that, worked out for the thread named, has gone too far."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from course_lib.diagnosis.codes import array_of
from course_lib.diagnosis.source.nodes import indices_of, part_of
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding
from course_lib.sentences import facts_of, say

_DEEPEST = 8  # variables that are made of variables
_AXES = ("x", "y", "z")
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def with_its_index(each: Finding, source: Source) -> Finding | None:
    """An access outside an array, with the index that went too far and its own line.

    None if no index of the statement, or several different ones, have that value in that thread.
    """
    place = facts_of(each.message).get("place")
    statement = source.at_line(each.line) if each.line else None
    if not isinstance(place, tuple) or statement is None or not each.threads:
        return None
    axis, number = place
    found: dict[str, ast.expr] = {}
    for access in source.accesses(array_of(each.cell), store=each.code.endswith("write")):
        slots = indices_of(access)
        if source.statement(access) is not statement or axis >= len(slots):
            continue
        if _value(source, slots[axis], each.threads[0]) == number:
            found.setdefault(ast.unparse(slots[axis]), slots[axis])
    if len(found) != 1:
        return None
    ((index, slot),) = found.items()
    if isinstance(slot, ast.Constant):
        return None
    hint = say(
        "{index} is {number} in this thread. From where to where should it run, over all threads?",
        index=index,
        number=number,
    )
    return replace(each, line=slot.lineno, hint=hint)


def _value(
    source: Source, expression: ast.expr, thread: Sequence[int], depth: int = _DEEPEST
) -> int | None:
    """What an expression is in a thread; None if more than its index in the block decides."""
    match expression:
        case ast.Constant(int(number)):
            return number
        case ast.Attribute(ast.Attribute(attr="threadIdx"), axis) if axis in _AXES:
            return thread[_AXES.index(axis)]
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            one = _value(source, left, thread, depth)
            other = _value(source, right, thread, depth)
            if (
                one is None
                or other is None
                or (not other and isinstance(op, ast.FloorDiv | ast.Mod))
            ):
                return None
            return _OPERATORS[type(op)](one, other)
        case ast.Call(func=ast.Attribute(attr=name), args=[number]) if "int" in name:
            return _value(source, number, thread, depth)  # a conversion, as np.uint32
        case ast.Name(name) if depth:
            assigned = source.assignments(name)
            behind = part_of(assigned[0], name) if len(assigned) == 1 else None
            return None if behind is None else _value(source, behind, thread, depth - 1)
    return None
