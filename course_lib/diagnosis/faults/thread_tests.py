"""Tests around accesses and barriers: does the right thread pass, and where do threads part?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from course_lib.diagnosis.faults.words import BEFORE_ANOTHER, CLAUSE, JOINED, tell
from course_lib.diagnosis.source.source import Source, Threads, Value, value_in
from course_lib.diagnosis.source.tree import indices_of, names_in, part_of
from course_lib.emulator import OpenLoop
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital, Line, Sentence, facts_of, one_after_another, say

_JOINTS = {ast.And: "and", ast.Or: "or", ast.BitAnd: "&", ast.BitOr: "|"}


def thread_of(found: Finding, launch: Threads) -> Threads | None:
    """The thread that a finding names, where `launch` holds every thread of the launch."""
    block = facts_of(found.message).get("block_at", (0, 0, 0))
    if not found.threads or not isinstance(block, tuple):
        return None
    return replace(launch, thread=found.threads[0], block=block)


def is_let_through(source: Source, test: ast.expr, node: ast.AST) -> bool:
    """Has a test to hold for a thread to reach a node behind it? Otherwise it must not hold."""
    branch = source.parents[test]
    body = getattr(branch, "body", [])
    inside = body if isinstance(body, list) else [body]
    return any(node is part for each in inside for part in ast.walk(each))


def worked_out(source: Source, test: ast.expr, threads: Threads) -> Sentence | None:
    """The clauses of a test with their numbers and results, for one thread.

    "row < M is false (33 < 33), column < N is true (0 < 19), joined by or". None where one of
    them cannot be told from the thread's place and the sizes.
    """
    parts, joint = clauses(source, test)
    told = [_clause(source, part, threads) for part in parts]
    if any(each is None for each in told):
        return None
    listed = one_after_another(
        say(BEFORE_ANOTHER, clause=each) if each is not told[-1] else each for each in told if each
    )
    return say(JOINED, clauses=listed, joint=joint) if joint else listed


def _clause(source: Source, clause: ast.expr, threads: Threads) -> Sentence | None:
    holds = value_in(source, clause, threads)
    if holds is None or np.ndim(holds) or isinstance(holds, tuple):
        return None
    return say(
        CLAUSE,
        clause=ast.unparse(clause),
        truth="true" if holds else "false",
        numbers=_numbers(source, clause, threads),
    )


def _numbers(source: Source, clause: ast.expr, threads: Threads) -> str:
    """The numbers that a comparison compares, as " (33 < 33)"; nothing for other clauses."""
    if not isinstance(clause, ast.Compare):
        return ""
    values = [value_in(source, each, threads) for each in (clause.left, *clause.comparators)]
    if any(isinstance(value, tuple) for value in values):
        return ""
    left, *others = [cast(ast.expr, ast.Constant(value)) for value in values]
    return f" ({ast.unparse(ast.Compare(left, clause.ops, others))})"


def clauses(source: Source, test: ast.expr) -> tuple[list[ast.expr], str]:
    """The parts that a test joins, and how it does: ([a, b], "and") for `a and b`."""
    if isinstance(test, ast.Name):  # inside = row < M and column < N
        before = source.last_assignment(test)
        value = part_of(before, test.id) if before is not None else None
        return clauses(source, value) if value is not None else ([test], "")
    match test:
        case ast.BoolOp(op=op, values=parts):
            return parts, _JOINTS[type(op)]
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as op):
            return list(_joined_by(type(op), test)), _JOINTS[type(op)]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            parts, joint = clauses(source, inner)
            if joint:
                return parts, f"not (… {joint} …)"
    return [test], ""


def _joined_by(sign: type[ast.operator], node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, sign):
        yield from _joined_by(sign, node.left)
        yield from _joined_by(sign, node.right)
    else:
        yield node


Tests = Sequence[tuple[ast.expr, bool]]  # each with what it has to be


def is_right_for(
    source: Source, access: ast.Subscript, output: str, thread: Threads
) -> Literal["its own", "as many", ""]:
    """Are the tests around an access right to let a thread through?

    The output has to be stored behind the same tests. They are if what the thread stores lies
    inside ("its own"), or if they let through one thread for each element ("as many"): the first
    ones of the grid along each axis.
    """
    tests = _tests_around(source, access)
    stores = [
        store
        for store in source.accesses(output, store=True)
        if _in_words(tests) <= _in_words(_tests_around(source, store))
    ]
    if not tests or not stores:
        return ""
    if all(_is_inside(source, store, output, thread) for store in stores):
        return "its own"
    return "as many" if _one_for_each(source, tests, output, thread) else ""


def _tests_around(source: Source, node: ast.AST) -> Tests:
    return [(test, is_let_through(source, test, node)) for test, _ in source.conditions(node)]


def _in_words(tests: Tests) -> set[tuple[str, bool]]:
    return {(ast.unparse(test), holds) for test, holds in tests}


def _is_inside(source: Source, store: ast.Subscript, output: str, thread: Threads) -> bool:
    indices = [value_in(source, expression, thread) for expression in indices_of(store)]
    sizes = thread.shapes.get(output, ())
    return len(indices) == len(sizes) and all(
        isinstance(index, int) and 0 <= index < size
        for index, size in zip(indices, sizes, strict=True)
    )


def _one_for_each(source: Source, tests: Tests, output: str, thread: Threads) -> bool:
    """Do just the threads pass that are the first of the grid along each axis of the output?"""
    launch = every_thread(thread)
    passing = _passing(source, tests, launch)
    if passing is None:
        return False
    sizes = thread.shapes.get(output, ())[::-1]  # x counts along the last axis
    wanted: Value = True
    for number, size in zip(launch.number, sizes, strict=False):
        wanted = wanted & (number < size)
    return bool(np.array_equal(np.broadcast_to(passing, np.shape(wanted)), wanted))


def _passing(source: Source, tests: Tests, threads: Threads) -> Value | None:
    """The threads that pass all tests; each test must hold, or must not, as it says."""
    passing: Value = True
    for test, holds in tests:
        value = value_in(source, test, threads)
        if value is None or isinstance(value, tuple):
            return None
        passing = passing & (np.not_equal(value, 0) == holds)
    return passing


def every_thread(one: Threads) -> Threads:
    """All threads of the launch that one belongs to, block after block."""
    sizes = [*(*one.grid, 1, 1)[:3], *(*one.block_size, 1, 1)[:3]]
    bx, by, bz, x, y, z = (axis.reshape(-1) for axis in np.indices(sizes))
    return replace(one, thread=(x, y, z), block=(bx, by, bz))


# --- Barriers that not all threads reach, and loops that take the whole budget --------------------


OWN = {"threadIdx", "grid", "laneid"}  # what differs from thread to thread
LEAVES = (ast.Return, ast.Break, ast.Continue)


def explain_divergence(each: Finding, source: Source) -> Finding:
    """A barrier that not all threads reach, at the branch, the loop or the exit that parts them; a
    `syncthreads` in a branch is itself in the wrong place."""
    line = None
    if len(each.threads) > 1:
        gone = facts_of(each.message).get("why") == "has already returned"
        line = (_exit_line(source) if gone else None) or parting_line(source, each.line or 0)
    if line is None or line == each.line:
        return each
    barrier = source.at_line(each.line or 0)
    is_plain = barrier and names_in(barrier) & {"syncthreads", "syncwarp"}
    around = source.ancestors(barrier) if barrier and is_plain else ()
    branches = {node.test.lineno for node in around if isinstance(node, ast.If)}
    at = each.line if line in branches else line
    return tell.again("parted", each, at, line=Capital(Line(line)))


def _exit_line(source: Source) -> int | None:
    """The first test that depends on the thread and lets it return from the kernel."""
    for node in ast.walk(source.kernel):
        if isinstance(node, ast.If) and source.everything_behind(node.test) & OWN:
            if any(isinstance(leaf, ast.Return) for leaf in [*node.body, *node.orelse]):
                return node.test.lineno
    return None


def parting_line(source: Source, line: int) -> int | None:
    """The nearest test around or before a line, or bound of a loop, that depends on the thread."""
    statement = source.at_line(line)
    waiting = [statement] if statement else []
    for node in waiting:  # grows by the calls of a device function
        for test, place in _tests_on_the_way(source, node):
            if source.everything_behind(test) & OWN:
                return place
        function = next((a for a in source.ancestors(node) if isinstance(a, ast.FunctionDef)), None)
        if function is not None and function is not source.kernel:
            waiting += [call for call in _calls(source, function.name) if call not in waiting]
    return None


def _calls(source: Source, name: str) -> list[ast.stmt]:
    """The statements that call a device function."""
    calls = [
        source.statement(node)
        for node in source.walk()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]
    return [call for call in calls if call is not None]


def _tests_on_the_way(source: Source, node: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """What decides whether, and how often, a statement is reached, from the inside out."""
    inner = node
    for each in source.ancestors(node):
        if isinstance(each, (ast.If, ast.IfExp)) and inner is not each.test:
            yield each.test, each.test.lineno
        yield from _ways_out(each, inner)
        if isinstance(each, ast.While):
            yield each.test, each.test.lineno
        if isinstance(each, ast.For):
            yield each.iter, each.lineno
        inner = each


def _ways_out(block: ast.AST, inner: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """Tests of a block's other statements that leave the kernel, the loop or its round.

    In a loop also those behind the statement: whoever leaves there misses it in the next round.
    """
    for name in ("body", "orelse"):
        statements = getattr(block, name, None)
        if not isinstance(statements, list) or inner not in statements:
            continue
        place = statements.index(inner)
        after = statements[place + 1 :] if isinstance(block, (ast.For, ast.While)) else []
        for each in [*reversed(statements[:place]), *after]:
            for part in ast.walk(each):
                if isinstance(part, ast.If) and any(
                    isinstance(leaf, LEAVES) for leaf in [*part.body, *part.orelse]
                ):
                    yield part.test, part.test.lineno


def explain_timeout(each: Finding, loop: OpenLoop | None, budget: str) -> Finding:
    """A kernel that took more than its budget, at the line of the loop that took it.

    A `while` may never end. A `for` does: there, it turns too often, or too few threads share the
    work; which of the two it is cannot be told from the steps.
    """
    if loop is None:
        return tell.again("out of steps", each, budget=budget)
    kind = "out of steps in a loop" if loop.ends else "loop without an end"
    line, turns = Line(loop.line), f"{loop.turns:,}"
    return tell.again(kind, each, loop.line, budget=budget, line=line, turns=turns)


def with_elements(each: Finding, count: int, most: int, output: str) -> Finding:
    """The same with how many elements a thread had computed, if that is more than it may."""
    if not most or count <= most:
        return each
    words = {"count": count, "output": output, "most": "one" if most == 1 else most}
    return tell.again("many elements by then", each, **words)
