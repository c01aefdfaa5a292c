"""The line behind a slip where an array is read or written, or an index for it worked out."""

from __future__ import annotations

import ast

from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import (
    indices_of,
    names_in,
    root_name,
)
from course_lib.diagnosis.source.source import Source


def load_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an operand is read, or where the index it is read with is worked out."""
    array = details[0] if details else at.names[0]
    slots = [{"row": 0, "column": 1}[each] for each in details[1:] if each in ("row", "column")]
    accesses = at.source.accesses(array, store=False)
    for access in accesses[-1:] if "last" in details else accesses:
        if len(slots) == 1:
            line = index_line(at.source, access, slots[0], at.names[-1])
            if line:
                return SlipLocation(line)
        return SlipLocation(access.lineno)
    handed = at.source.handed_over(array)
    if handed:
        return SlipLocation(handed[-1 if "last" in details else 0].lineno)
    lines = at.trail.load_lines.get(array, ()) or at.trail.store_lines.get(array, ())
    return SlipLocation(lines[0] if lines else None)


def index_line(source: Source, access: ast.Subscript, slot: int, output: str) -> int | None:
    """The line that works out one index of an access, if that is another line.

    An index that also serves to store the output is right there, so it is its use here that is to
    blame.
    """
    slots = indices_of(access)
    if slot >= len(slots):
        return None
    if not isinstance(slots[slot], ast.Name):
        return _fixed_part(source, access, slots[slot])
    name = slots[slot].id  # type: ignore[attr-defined]
    used = {part for store in source.accesses(output, store=True) for part in names_in(store.slice)}
    value = source.value_of(name)
    if name in used or value is None:
        return None
    if not isinstance(value, ast.BinOp):
        return _fixed_part(source, access, slots[slot])
    return source.assignments(name)[0].lineno


def _fixed_part(source: Source, access: ast.Subscript, index: ast.expr) -> int | None:
    """Where a part of an index is set anew in each round of a loop, yet to the same value."""
    around = source.loops_around(access)
    changing = source.loop_variables(access)
    if source.origins(index) & changing:
        return None
    for name in sorted(names_in(index)):
        for statement in source.assignments(name):
            if around and source.loops_around(statement) == around:
                return statement.lineno
    return None


def store_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where the output is written."""
    stores = at.source.accesses(at.names[-1], store=True)
    if stores:
        return SlipLocation(stores[-1].lineno)
    lines = at.trail.store_lines.get(at.names[-1], ())
    return SlipLocation(lines[0] if lines else at.source.kernel.lineno)


def call_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The last call of a function that a slip names, the first of several that is called at all.

    Behind "with" stands what such a call has among its arguments.
    """
    end = details.index("with") if "with" in details else len(details)
    wanted = {*details[end + 1 :]}
    for name in details[:end]:
        calls = [
            each
            for each in at.source.calls_by_name(name)
            if wanted <= {root_name(argument) for argument in each.args}
        ]
        if calls:
            return SlipLocation(calls[-1].lineno)
    return store_place(at, [])
