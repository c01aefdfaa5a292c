"""Barriers that not all threads reach, and loops that take the whole budget."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import names_in
from course_lib.emulator import OpenLoop
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital, Line, facts_of

OWN = {"threadIdx", "grid", "laneid"}  # what differs from thread to thread
LEAVES = (ast.Return, ast.Break, ast.Continue)


def explain_divergence(finding: Finding, source: Source) -> Finding:
    """A barrier that not all threads reach, at the branch, the loop or the exit that parts them; a
    `syncthreads` in a branch is itself in the wrong place."""
    line = None
    if len(finding.threads) > 1:
        gone = facts_of(finding.message).get("why") == "has already returned"
        line = (_exit_line(source) if gone else None) or parting_line(source, finding.line or 0)
    if line is None or line == finding.line:
        return finding
    barrier = source.at_line(finding.line or 0)
    is_plain = barrier and names_in(barrier) & {"syncthreads", "syncwarp"}
    around = source.ancestors(barrier) if barrier and is_plain else ()
    branches = {node.test.lineno for node in around if isinstance(node, ast.If)}
    at = finding.line if line in branches else line
    return tell.again("parted", finding, at, line=Capital(Line(line)))


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
            calls = map(source.statement, source.calls_by_name(function.name))
            waiting += [call for call in calls if call and call not in waiting]
    return None


def _tests_on_the_way(source: Source, node: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """What decides whether, and how often, a statement is reached, from the inside out."""
    inner = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, (ast.If, ast.IfExp)) and inner is not ancestor.test:
            yield ancestor.test, ancestor.test.lineno
        yield from _ways_out(ancestor, inner)
        if isinstance(ancestor, ast.While):
            yield ancestor.test, ancestor.test.lineno
        if isinstance(ancestor, ast.For):
            yield ancestor.iter, ancestor.lineno
        inner = ancestor


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
        for statement in [*reversed(statements[:place]), *after]:
            for part in ast.walk(statement):
                if isinstance(part, ast.If) and any(
                    isinstance(leaf, LEAVES) for leaf in [*part.body, *part.orelse]
                ):
                    yield part.test, part.test.lineno


def explain_timeout(finding: Finding, loop: OpenLoop | None, budget: str) -> Finding:
    """A kernel that took more than its budget, at the line of the loop that took it.

    A `while` may never end. A `for` does: there, it turns too often, or too few threads share the
    work; which of the two it is cannot be told from the steps.
    """
    if loop is None:
        return tell.again("out of steps", finding, budget=budget)
    kind = "out of steps in a loop" if loop.ends else "loop without an end"
    line, turns = Line(loop.line), f"{loop.turns:,}"
    return tell.again(kind, finding, loop.line, budget=budget, line=line, turns=turns)
