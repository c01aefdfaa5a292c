"""Where in an attention kernel the running maximum begins, and where it is compared."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.attention.mask_lines import tests_of
from course_lib.diagnosis.families.attention.step_lines import (
    assignments_of,
    exponential_line,
    exponentials_of,
    target_of,
    tiles_line,
    weighing_line,
)
from course_lib.diagnosis.source.nodes import names_in, root_name
from course_lib.diagnosis.source.source import Source

MAXIMA = {"max", "fmax", "maximum"}


def old_maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """The exponential that subtracts what a tile finds; else where a score becomes a weight.

    That is the maximum of the tiles before: a name that has a value before the loop over them.
    """
    loop = tiles_line(source, names) or 0
    before = {
        part.id
        for statement in assignments_of(source)
        if statement.lineno < loop
        for part in ast.walk(target_of(statement))
        if isinstance(part, ast.Name)
    }
    for call in exponentials_of(source):
        for part in ast.walk(call):
            if not isinstance(part, ast.BinOp) or not isinstance(part.op, ast.Sub):
                continue
            if root_name(part.right) in before:
                return call.lineno
    return exponential_line(source, names)


def maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the running maximum is found."""
    lines = [
        node.lineno
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & MAXIMA
    ]
    return min(lines, default=exponential_line(source, names))


def first_maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the running maximum gets its first value: before the loop over the tiles, if there."""
    loop = tiles_line(source, names) or 0
    compared = _kept_by_a_test(source) | {
        name
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & MAXIMA
        for each in node.args
        if (name := root_name(each))
    }
    kept = {
        name
        for statement in assignments_of(source)
        if isinstance(statement, ast.Assign) and root_name(statement.value) in compared
        for target in statement.targets
        if (name := root_name(target))
    }
    starts = [
        source.set_by_caller(statement).lineno
        for statement in assignments_of(source)
        if isinstance(statement, ast.Assign)
        and not source.makes_array(statement)
        and _names_set(statement) & (compared | kept)
        and not names_in(statement.value) & MAXIMA
    ]
    before = [line for line in starts if line < loop]
    lines = before or starts
    return lines[0] if lines else maximum_line(source, names)


def _kept_by_a_test(source: Source) -> set[str]:
    """The variables that get a value if it is larger: `if new > top: top = new`."""
    found = set()
    for test in tests_of(source):
        compared = {
            name
            for part in ast.walk(test.test)
            if isinstance(part, ast.Compare) and orders_numbers(part)
            for side in (part.left, *part.comparators)
            if (name := root_name(side))
        }
        within: list[ast.AST | None] = list(test.body) if isinstance(test, ast.If) else []
        if isinstance(test, ast.IfExp):
            within = [source.statement(test)]
        for statement in within:
            if isinstance(statement, ast.Assign):
                target = root_name(statement.targets[0])
                if target in compared and names_in(statement.value) & compared - {target}:
                    found.add(target)
    return found


def orders_numbers(test: ast.Compare) -> bool:
    """Does it ask which of two numbers is the larger one?"""
    return any(isinstance(op, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)) for op in test.ops)


def tie_line(source: Source, names: Sequence[str]) -> int | None:
    """The innermost test that decides whether a weight is added, if it orders numbers."""
    weighing = source.at_line(weighing_line(source, names) or 0)
    for test, line in source.conditions(weighing) if weighing else ():
        if any(isinstance(part, ast.Compare) and orders_numbers(part) for part in ast.walk(test)):
            return line
    return weighing.lineno if weighing else None


def calls_of(source: Source, functions: set[str]) -> list[ast.Call]:
    return [
        node
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & functions
    ]


def _names_set(statement: ast.Assign) -> set[str]:
    return {
        part.id
        for target in statement.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and root_name(target) in (part.id, None)
    }
