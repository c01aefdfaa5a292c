"""Where in an attention kernel lanes put their sums and maxima together."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.attention.maximum_lines import MAXIMA, calls_of, maximum_line
from course_lib.diagnosis.families.attention.step_lines import (
    assignments_of,
    divisors_of,
    score_line,
    target_of,
    total_line,
)
from course_lib.diagnosis.source.nodes import names_in, root_name
from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line


def sum_reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop in which lanes add up their products by shuffles; else where they are added."""
    totals = set(divisors_of(source))
    found = sorted(_shuffled_sums(source), key=lambda each: root_name(target_of(each)) in totals)
    return source.loops_around(found[0])[-1].lineno if found else score_line(source, names)


def total_reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the distances begin by which lanes add up their weights; else where these are added."""
    statement = _shuffled_total(source)
    loop = source.loops_around(statement)[-1] if statement else None
    return loop_start_line(source, loop) if loop else total_line(source, names)


def total_reduction_end_line(source: Source, names: Sequence[str]) -> int | None:
    """The end of these distances."""
    statement = _shuffled_total(source)
    loop = source.loops_around(statement)[-1] if statement else None
    return bound_line(source, loop) if loop else total_line(source, names)


def total_shuffle_line(source: Source, names: Sequence[str]) -> int | None:
    """Where lanes add up their weights."""
    statement = _shuffled_total(source)
    return statement.lineno if statement else total_line(source, names)


def _shuffled_total(source: Source) -> ast.Assign | ast.AugAssign | None:
    """Where lanes put together, by shuffles, what the output is divided by.

    A variable that holds the weights of one tile alone is added to that one.
    """
    sums = _shuffled_sums(source)
    totals = set(divisors_of(source))
    parts = {
        part for name in totals for each in source.assignments(name) for part in names_in(each)
    }
    for wanted in (totals, parts):
        for statement in sums:
            if root_name(target_of(statement)) in wanted:
                return statement
    return None


def _shuffled_sums(source: Source) -> list[ast.Assign | ast.AugAssign]:
    """Where lanes add what a shuffle in a loop brings them."""
    return [
        statement
        for statement in assignments_of(source)
        if any(name.startswith("shfl") for name in names_in(statement.value))
        and any(isinstance(part, ast.Add) for part in ast.walk(statement))
        and source.loops_around(statement)
        and not names_in(statement.value) & MAXIMA
    ]


def reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the lanes' distances begin by which a maximum is handed on."""
    call = _shuffled_maximum(source)
    loop = source.loops_around(call)[-1] if call else None
    return loop_start_line(source, loop) if loop else maximum_line(source, names)


def reduction_end_line(source: Source, names: Sequence[str]) -> int | None:
    """The end of these distances."""
    call = _shuffled_maximum(source)
    loop = source.loops_around(call)[-1] if call else None
    return bound_line(source, loop) if loop else maximum_line(source, names)


def max_shuffle_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a maximum is handed on."""
    call = _shuffled_maximum(source)
    return call.lineno if call else maximum_line(source, names)


def _shuffled_maximum(source: Source) -> ast.Call | None:
    """Where a lane compares its maximum with that of another one, in a loop."""
    for call in sorted(calls_of(source, MAXIMA), key=lambda node: node.lineno):
        if any(name.startswith("shfl") for name in names_in(call)) and source.loops_around(call):
            return call
    return None
