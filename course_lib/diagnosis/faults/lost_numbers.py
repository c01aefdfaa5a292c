"""A thread's own number that is lost on the way: in a narrow type, or to a loop of the same name.

What follows from it looks like anything: a race, a wrong test, an offset that is missing. So it is
looked for before them, in answers that are wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.source.nodes import flat, names_in, part_of
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.trial import Trial
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

OWN = {"threadIdx", "blockIdx", "grid", "laneid"}  # what distinguishes a thread


def lost_number(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """The finding for a thread's number that a wrong answer loses."""
    wrong = [trial for trial in trials if not trial.right or trial.errors]
    if not wrong:
        return None
    return _overwritten(launcher.source, launcher.names[-1])


def _overwritten(source: Source, output: str) -> Finding | None:
    """A loop that counts with the name of a thread's number, which is needed behind its head."""
    for loop in source.loops():
        targets = flat(loop.target) if isinstance(loop, ast.For) else ()
        for name in (each.id for each in targets if isinstance(each, ast.Name)):
            made = _own_number(source, name, loop)
            used = next(_still_used(source, name, loop, output), None) if made else None
            if made is None or used is None:
                continue
            words = {"name": name, "made": Line(made), "used": Line(used)}
            return tell("number overwritten by a loop", loop.lineno, **words)
    return None


def _own_number(source: Source, name: str, loop: ast.stmt) -> int | None:
    """The line before a loop, in its function, that gives a name the number of a thread."""
    for each in source.assignments(name):
        value = part_of(each, name)
        if each.lineno < loop.lineno and _function(source, each) is _function(source, loop):
            if value is not None and source.everything_behind(value) & OWN:
                return each.lineno
    return None


def _still_used(source: Source, name: str, loop: ast.stmt, output: str) -> Iterator[int]:
    """The lines that read a name after a loop has counted with it, or store there meanwhile."""
    end = loop.end_lineno or loop.lineno
    again = [each.lineno for each in source.assignments(name) if each.lineno > end]
    for node in ast.walk(_function(source, loop)):
        if not isinstance(node, ast.Name) or node.id != name or node.lineno <= end:
            continue
        if isinstance(node.ctx, ast.Load) and not any(line <= node.lineno for line in again):
            yield node.lineno
    for store in source.accesses(output, store=True):
        tests = [test for test, _ in source.conditions(loop)]
        if loop in source.loops_around(store) and name in names_in(store.slice):
            if any(name in names_in(test) for test in tests):
                yield store.lineno


def _function(source: Source, node: ast.AST) -> ast.AST:
    around = (each for each in source.ancestors(node) if isinstance(each, ast.FunctionDef))
    return next(around, source.kernel)
