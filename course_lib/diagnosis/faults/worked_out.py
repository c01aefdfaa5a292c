"""Which index left an array: the one that, worked out for the thread named, has gone too far."""

from __future__ import annotations

import ast
from dataclasses import replace

from course_lib.diagnosis.codes import array_of
from course_lib.diagnosis.source.in_a_thread import Threads, value_in
from course_lib.diagnosis.source.nodes import indices_of
from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding
from course_lib.sentences import facts_of, say


def with_its_index(each: Finding, source: Source) -> Finding | None:
    """An access outside an array, with the index that went too far and its own line.

    None if no index of the statement, or several different ones, have that value in that thread.
    """
    place = facts_of(each.message).get("place")
    statement = source.at_line(each.line) if each.line else None
    if not isinstance(place, tuple) or statement is None or not each.threads:
        return None
    axis, number = place
    found: dict[str, ast.expr] = {}
    for access in source.accesses(array_of(each.cell), store=each.code.endswith("write")):
        slots = indices_of(access)
        if source.statement(access) is not statement or axis >= len(slots):
            continue
        if value_in(source, slots[axis], Threads(each.threads[0])) == number:
            found.setdefault(ast.unparse(slots[axis]), slots[axis])
    if len(found) != 1:
        return None
    ((index, slot),) = found.items()
    if isinstance(slot, ast.Constant):
        return None
    hint = say(
        "{index} is {number} in this thread. From where to where should it run, over all threads?",
        index=index,
        number=number,
    )
    return replace(each, line=slot.lineno, hint=hint)
