"""Numbers of the wrong type: float64 where float32 is asked for, an index in too few bits."""

from __future__ import annotations

import ast
from dataclasses import replace

from course_lib.diagnosis.faults.outside import line_of
from course_lib.diagnosis.source.nodes import names_in, outside, part_of, root_name
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding, finding
from course_lib.sentences import say

NARROW = {"int8", "uint8", "int16", "uint16"}
FLOAT64 = {"float64", "double"}
CONSTANTS = {"inf", "nan", "pi", "e"}  # of math: float64, like any number of Python


def largest_of(kind: str) -> int:
    """The largest number of an integer type, by its name."""
    bits = int(kind.removeprefix("u").removeprefix("int"))
    return (1 << (bits if kind.startswith("u") else bits - 1)) - 1


def narrow_index(source: Source, shortest: int) -> Finding | None:
    """The finding for an index in 8 or 16 bits that ends below the length `shortest`."""
    for node in source.walk():
        if isinstance(node, ast.Call) and names_in(node.func) & NARROW:
            kind = sorted(names_in(node.func) & NARROW)[0]
            fixed = all(isinstance(each, ast.Constant) for each in node.args)  # k = int8(0)
            if largest_of(kind) >= shortest or fixed:
                continue
            message = say(
                "An index kept as {kind} wraps around where the array is longer than that.",
                kind=kind,
            )
            hint = say("Which is the largest number that {kind} can hold?", kind=kind)
            return finding("index-overflow", message, node.lineno, hint)
    return None


def explain_float64(each: Finding, source: Source) -> Finding:
    """float64 arithmetic as an error (every exercise asks for float32), at the line it comes from.

    A sum is float64 from its first value on: `acc = 0.0` is to blame, not `acc += ...`.
    """
    statement = source.at_line(each.line or 0)
    origin = None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        names = _names(statement.value) | {root_name(target) or ""}
        origin = None if is_float64(statement.value) else _origin(source, names, statement)
    if origin is None:
        return replace(each, severity="error")
    message = say(
        "This makes {line} compute in float64; the exercise asks for float32.", line=line_of(each)
    )
    hint = each.hint
    if source.makes_array(source.at_line(origin)):
        hint = "Which type do the elements of this array have, and which type do A's have?"
    return replace(each, severity="error", message=message, line=origin, hint=hint)


def _origin(source: Source, names: set[str], statement: ast.stmt) -> int | None:
    """The first line that gives one of these variables a float64, or one that they are made of."""
    known: set[str] = set()
    while names - known:
        known |= names
        given = [
            (each.lineno, part_of(each, name))
            for name in sorted(names)
            for each in source.assignments(name)
            if each is not statement
        ]
        lines = [line for line, value in given if is_float64(value)]
        if lines:
            return min(lines)
        names = set().union(*(_names(value) for _, value in given if value))
    return None


def _names(value: ast.expr) -> set[str]:
    """The variables whose type an expression may have."""
    return {node.id for node in outside(value) if isinstance(node, ast.Name)}


def is_float64(value: ast.expr | None) -> bool:
    """Does an expression bring float64 in: a bare number, or the type by its name?"""
    if value is None:
        return False
    if isinstance(value, ast.Call) and names_in(value.func) & {"float32"}:
        return False
    if isinstance(value, ast.Call) and "array" in names_in(value.func):
        return bool(names_in(value) & FLOAT64)  # the numbers in it are its shape
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)))
        or (isinstance(node, (ast.Name, ast.Attribute)) and names_in(node) & FLOAT64)
        or (isinstance(node, ast.Attribute) and node.attr in CONSTANTS)
        for node in outside(value)
    )
