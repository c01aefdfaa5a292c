"""Numbers of the wrong type, and rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import (
    names_in,
    outside,
    part_of,
    root_name,
)
from course_lib.diagnosis.trial import Trial, counts_of, exact_of
from course_lib.emulator.language.intrinsics import Cast
from course_lib.emulator.language.typings import Typing
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

FLOAT64 = {"float64", "double"}
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)
CONSTANTS = {"inf", "nan", "pi", "e"}  # of math: float64, like any number of Python


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
    each = replace(each, severity="error")
    if origin is None:
        return each
    in_array = source.makes_array(source.at_line(origin))
    kind = "float64 in an array" if in_array else "float64"
    return tell.again(kind, each, origin, line=Line(each.line or 0))


def _origin(source: Source, names: set[str], statement: ast.stmt) -> int | None:
    """The first line that gives one of these variables a float64, or one that they are made of."""
    known: set[str] = set()
    while names - known:
        known |= names
        given = [
            (assignment.lineno, part_of(assignment, name))
            for name in sorted(names)
            for assignment in source.assignments(name)
            if assignment is not statement
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
    """Does an expression contain float64: a bare number, or the type by its name?"""
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


def depends_on_rounding(
    launcher: Launcher, trials: Sequence[Trial], unsteady: Trial | None
) -> Finding | None:
    """An answer that is right, or cheap, only where every product is rounded by itself.

    `unsteady`: a launch that went wrong, and is right with products rounded to the nearest number.
    """
    exact = exact_of(trials)
    if exact is None or not all(trial.right for trial in trials):
        return None
    lines = _lines_that_test_numbers(launcher)
    seen = unsteady or (launcher.run(exact.case, either_rounding=True) if lines else exact)
    if seen.right and counts_of(seen.profile) == counts_of(exact.profile):
        return None
    return launcher.seen_in(seen, tell("rounding", min(lines, default=None)), is_told=False)


def _lines_that_test_numbers(launcher: Launcher) -> set[int]:
    """The lines on which a number that is no integer decides what happens next."""
    typings = [typing for one in launcher.typings.values() for typing in one.functions]
    return {
        node.lineno
        for typing in typings
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.expr | ast.stmt)
        if any(_is_float(typing, decide) for decide in _decides(typing, node))
    }


def _decides(typing: Typing, node: ast.AST) -> Iterator[ast.expr]:
    """What a comparison, a test or a cast to an integer looks at."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, TESTS):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(typing.calls.get(node), Cast):
        result = typing.types.get(node)
        yield from node.args if isinstance(result, np.dtype) and result.kind in "iub" else ()


def _is_float(typing: Typing, node: ast.expr) -> bool:
    kind = typing.types.get(node)
    return isinstance(kind, np.dtype) and kind.kind == "f"
