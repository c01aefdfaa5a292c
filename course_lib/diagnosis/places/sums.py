"""The line behind a slip in a sum: where it starts, grows, is scaled or cut off."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.places.access import store_place
from course_lib.diagnosis.places.words import ITERATIONS, TEST
from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import names_in, outside, root_name
from course_lib.diagnosis.source.source import Source, bound_line

INTEGERS = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"}


def sum_place(at: Evidence, details: list[str]) -> SlipLocation:
    additions = at.source.additions()
    if not additions:
        return SlipLocation(None)
    if "nothing" in details and not any(each.lineno in at.trail.lines for each in additions):
        return never_reached(at.source, additions[0], at.trail)
    for statement in additions:  # each product replaces the sum, or the sum is set anew before it
        if isinstance(statement, ast.AugAssign) and "replaced" in details:
            name = root_name(statement.target)
            around = at.source.loops_around(statement)
            starts = at.source.starts(name) if name else []
            # A sum of several elements is set in loops of its own, within the one that adds.
            shared = [sum(loop in around for loop in at.source.loops_around(e)) for e in starts]
            if max(shared, default=0):
                return SlipLocation(starts[shared.index(max(shared))].lineno)
    return SlipLocation(additions[0].lineno)


def start_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where the sum is set to its first value ("anew": in each turn)."""
    for name in at.source.sums():
        starts = at.source.starts(name)
        if starts:
            deepest = max(starts, key=lambda node: len(at.source.loops_around(node)))
            return SlipLocation((deepest if "anew" in details else starts[0]).lineno)
    return SlipLocation(None)


def integer_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an integer type, or a division that cuts off, comes in."""
    for node in at.source.walk():
        if isinstance(node, ast.Call):
            called = names_in(node.func) if not isinstance(node.func, ast.Call) else set()
            typed = {name for keyword in node.keywords for name in names_in(keyword.value)}
            arguments = {name for each in node.args for name in names_in(each)}
            arrays = bool(called & {"array"}) and bool((typed | arguments) & INTEGERS)
            if called & INTEGERS or arrays:
                return SlipLocation(node.lineno)
    for statement in at.source.additions():
        if any(isinstance(part, ast.FloorDiv) for part in ast.walk(statement)):
            return SlipLocation(statement.lineno)
    for node in at.source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            if any(_is_element(part, at.names) for part in ast.walk(node)):
                return SlipLocation(node.lineno)
    return SlipLocation(None)


def _is_element(node: ast.AST, names: Sequence[str]) -> bool:
    """Is it an element of one of the arrays, and no entry of a shape?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in names


def chosen_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = [node for node in at.source.walk() if isinstance(node, (ast.If, ast.IfExp))]
    lines = [node.test.lineno for node in tests if at.source.loops_around(node)]
    return SlipLocation(max(lines)) if lines else store_place(at, [])


def loop_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The first loop; else the store."""
    lines = [node.lineno for node in at.source.walk() if isinstance(node, (ast.For, ast.While))]
    return SlipLocation(min(lines)) if lines else store_place(at, [])


def zero_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an element decides by being zero or not: in a test, in `and` and `or`; else its use."""
    arrays = {*at.names[:-1], *at.source.own_arrays()}
    tests = [
        node.test for node in at.source.walk() if isinstance(node, (ast.If, ast.IfExp, ast.While))
    ]
    chosen = [
        value for node in at.source.walk() if isinstance(node, ast.BoolOp) for value in node.values
    ]
    for test in sorted((*tests, *chosen), key=lambda each: each.lineno):
        if {part.id for part in outside(test) if isinstance(part, ast.Name)} & arrays or (
            not at.source.tests_a_size(test) and at.source.everything_behind(test) & arrays
        ):
            return SlipLocation(test.lineno)
    return sum_place(at, []) if at.source.additions() else store_place(at, [])


def never_reached(source: Source, statement: ast.stmt, trail: Trail) -> SlipLocation:
    """What kept every thread from a statement: the outermost loop or test that none went into."""
    within: ast.AST = statement
    blocks = []
    for each in source.ancestors(statement):
        if isinstance(each, (ast.For, ast.While, ast.If)) and within in (*each.body, *each.orelse):
            body = each.body if within in each.body else each.orelse
            blocks.append((each, body[0].lineno))
        within = each
    for block, first in reversed(blocks):
        if first in trail.lines:
            continue
        if isinstance(block, ast.If):
            return SlipLocation(block.test.lineno, hint=TEST.hint)
        return SlipLocation(bound_line(source, block), ITERATIONS.code, ITERATIONS.hint)
    return SlipLocation(statement.lineno)
