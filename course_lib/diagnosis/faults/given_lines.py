"""A fault in a line that stands as it was given: told where the student's own line feeds it."""

from __future__ import annotations

import ast
from dataclasses import replace

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.codes import OUTSIDE, array_of, is_misaligned
from course_lib.diagnosis.faults.flat_rows import flat_indices
from course_lib.diagnosis.source.nodes import names_in
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding
from course_lib.sentences import Line, say


def explain_given_line(each: Finding, exercise: Exercise, source: Source) -> Finding:
    """A wide access that goes astray in a given line, told where one own statement sets its index.

    Anything else leaves the finding as it is.
    """
    if not isinstance(exercise, Task) or not (each.code in OUTSIDE or is_misaligned(each)):
        return each
    given = {ast.unparse(node) for node in ast.walk(ast.parse(exercise.given)) if _is_plain(node)}
    statement = source.at_line(each.line) if each.line else None
    if each.line is None or statement is None or ast.unparse(statement) not in given:
        return each
    indices = flat_indices(source, array_of(each.cell), each.line)
    used = sorted({name for index in indices for name in names_in(index)})
    own = {
        name: source.assignments(name)
        for name in used
        if any(ast.unparse(set_here) not in given for set_here in source.assignments(name))
    }
    lines = {set_here.lineno for several in own.values() for set_here in several}
    if len(lines) != 1:
        return each
    ask = "What is {names} in this thread, and what should it be?"
    if len(own) > 1:
        ask = "What are {names} in this thread, and what should they be?"
    return replace(
        each,
        line=lines.pop(),
        message=say("At {at}, {seen}", at=Line(each.line), seen=each.message),
        hint=say(ask, names=" and ".join(own)),
    )


def _is_plain(node: ast.AST) -> bool:
    """Is it a statement that holds no others?"""
    return isinstance(node, ast.stmt) and not hasattr(node, "body")
