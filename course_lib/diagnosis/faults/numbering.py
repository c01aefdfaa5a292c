"""Why two threads of a block write one element: they have worked out the same number."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from course_lib.diagnosis.source.in_a_thread import Threads, value_in
from course_lib.diagnosis.source.nodes import indices_of, part_of
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding
from course_lib.sentences import Line, say

AXES = {"x": 0, "y": 1, "z": 2}


def explain_meeting(each: Finding, source: Source, block: Sequence[int]) -> Finding:
    """A race of two threads that store at one line, at the number that they have in common.

    That is a variable made of the thread's index along two axes, from which alone the indices of
    the store follow. Anything else leaves the finding as it is.
    """
    same_line = each.line == each.other_line and len(set(each.blocks)) < 2
    if each.code != "race-write-after-write" or not same_line or len(each.threads) != 2:
        return each
    stores = source.accesses(each.cell.split("[", 1)[0], store=True)
    store = next((access for access in stores if access.lineno == each.line), None)
    if store is None:
        return each
    for name in sorted(source.everything_behind(store)):
        made = source.assignments(name)
        value = _value_of(source, name)
        if value is None or len(_axes_in(source, value)) < 2:
            continue
        if any(_axes_in(source, index, name) for index in indices_of(store)):
            continue
        numbers = {
            value_in(source, value, Threads(thread, block_size=block)) for thread in each.threads
        }
        if len(numbers) == 1 and None not in numbers:
            return replace(
                each,
                line=made[0].lineno,
                message=say(
                    "{seen} In both of them {name} is {number} after {line}.",
                    seen=each.message,
                    name=name,
                    number=numbers.pop(),
                    line=Line(made[0].lineno),
                ),
                hint=say("Which {name} should each of these two threads have?", name=name),
            )
    return each


def _value_of(source: Source, name: str) -> ast.expr | None:
    """What a variable is set to, if that is one place."""
    assigned = source.assignments(name)
    if len(assigned) != 1 or not isinstance(assigned[0], ast.Assign):
        return None
    return part_of(assigned[0], name)


def _axes_in(source: Source, value: ast.AST, but_for: str = "", depth: int = 4) -> set[str]:
    """The axes of threadIdx that an expression is made of, not by way of one variable."""
    found: set[str] = set()
    for part in ast.walk(value):
        if isinstance(part, ast.Attribute) and part.attr in AXES:
            if isinstance(part.value, ast.Attribute) and part.value.attr == "threadIdx":
                found.add(part.attr)
        elif isinstance(part, ast.Name) and part.id != but_for and depth:
            behind = _value_of(source, part.id)
            if behind is not None:
                found |= _axes_in(source, behind, but_for, depth - 1)
    return found
