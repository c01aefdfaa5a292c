"""Where in an attention kernel keys past the end are kept out."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.attention.step_lines import exponential_line, weighing_line
from course_lib.diagnosis.source.nodes import names_in
from course_lib.diagnosis.source.source import Source


def size_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the number of queries is taken for that of the keys: in a variable, or in its use."""
    mask, weighing = mask_of(source, names), source.at_line(weighing_line(source, names) or 0)
    loops = source.loops_around(weighing) if weighing else []
    heads = [loop.iter if isinstance(loop, ast.For) else loop.test for loop in loops]
    of_queries = (
        *source.accesses(names[0], store=False),
        *source.accesses(names[3], store=True),
    )
    tests = [test for each in of_queries for test, _ in source.guards(each)]
    used = set().union(*map(names_in, tests), set())
    for test in [mask.test] if mask else heads:
        for name in sorted(names_in(test)):
            value = source.value_of(name)
            if value is not None and names_in(value) & {names[0], names[3]}:
                return test.lineno if name in used else source.assignments(name)[0].lineno
            if name in (names[0], names[3]):
                return test.lineno
    return mask_line(source, names)


def mask_line(source: Source, names: Sequence[str]) -> int | None:
    """The test that keeps keys past the end out, or the loop that ends before them; without
    either, where scores become weights."""
    mask, weighing = mask_of(source, names), source.at_line(weighing_line(source, names) or 0)
    loops = source.loops_around(weighing)[::-1] if weighing and not mask else []
    for loop in loops:
        head = loop.iter if isinstance(loop, ast.For) else loop.test
        if source.origins(head) & {"shape", "size", "len"}:
            return loop.lineno
    return mask.test.lineno if mask else exponential_line(source, names)


def mask_value_line(source: Source, names: Sequence[str]) -> int | None:
    """The same, or the line on which that test gives such keys a number."""
    mask = mask_of(source, names)
    return _value_line(mask) if mask else exponential_line(source, names)


def mask_of(source: Source, names: Sequence[str]) -> ast.If | ast.IfExp | None:
    for node in sorted(tests_of(source), key=lambda node: node.test.lineno):
        parts = list(ast.walk(node))
        moves = any(
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and part.value.id in names
            for part in parts
        )
        leaves = any(isinstance(part, ast.Return) for part in parts)
        of_a_tile = bool(source.loops_around(node)) and source.tests_a_size(node.test)
        if of_a_tile and not moves and not leaves:
            return node
    return None


def _value_line(node: ast.If | ast.IfExp) -> int:
    """Of a test that gives keys past the end a number, the line of the number."""
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:
        given = node.body[0]
        if isinstance(given, ast.Assign) and not any(
            isinstance(part, (ast.Subscript, ast.BinOp)) for part in ast.walk(given.value)
        ):
            return given.lineno
    return node.test.lineno


def tests_of(source: Source) -> list[ast.If | ast.IfExp]:
    return [node for node in source.walk() if isinstance(node, (ast.If, ast.IfExp))]
