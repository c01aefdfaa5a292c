"""The line behind a slip where an array is read or written, or an index for it worked out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import (
    BLOCK,
    THREAD,
    indices_of,
    is_number,
    loop_names,
    names_in,
    part_of,
    root_name,
)
from course_lib.diagnosis.source.source import Source, bound_line, depends_on
from course_lib.sentences import say


def load_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an operand is read, or where the index it is read with is worked out."""
    array = details[0] if details else at.names[0]
    slots = [{"row": 0, "column": 1}[each] for each in details[1:] if each in ("row", "column")]
    accesses = at.source.accesses(array, store=False)
    if "both" in details:
        line = staged_line(at.source, at.trail, array) or common_step_line(at.source, at.names)
        if line:
            return SlipLocation(line)
        accesses = in_loops(at.source, array)
    if "within" in details:
        line = staged_line(at.source, at.trail, array)
        if line:
            return SlipLocation(line)
        if at.source.handed_over(array) and not accesses and at.source.additions():
            # The tile is filled by a device function.
            return SlipLocation(at.source.additions()[0].lineno)
    for access in accesses[-1:] if "last" in details else accesses:
        if len(slots) == 1:
            right = {*at.names[:-1]} - {array} if "alone" in details else set()
            line = index_line(at.source, access, slots[0], at.names[-1], right)
            if line:
                return SlipLocation(line)
        return SlipLocation(access.lineno)
    handed = at.source.handed_over(array)
    if handed:
        return SlipLocation(handed[-1 if "last" in details else 0].lineno)
    lines = at.trail.load_lines.get(array, ()) or at.trail.store_lines.get(array, ())
    return SlipLocation(lines[0] if lines else None)


def index_line(
    source: Source, access: ast.Subscript, slot: int, output: str, right: Collection[str] = ()
) -> int | None:
    """The line that works out one index of an access, if that is another line.

    An index that also serves to store the output, or to load the elements of an input of which
    the `right` ones are known to be loaded, is right there, so it is its use here that is to blame.
    """
    slots = indices_of(access)
    if slot >= len(slots):
        return None
    if not isinstance(slots[slot], ast.Name):
        return _fixed_part(source, access, slots[slot])
    name = slots[slot].id  # type: ignore[attr-defined]
    used = set().union(
        *(names_in(store.slice) for store in source.accesses(output, store=True)),
        *(names_in(load.slice) for each in right for load in source.accesses(each, store=False)),
    )
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
    """Where the output is written, or where the index it is written with is worked out."""
    stores = at.source.accesses(at.names[-1], store=True)
    if not stores:
        lines = at.trail.store_lines.get(at.names[-1], ())
        return SlipLocation(lines[0] if lines else at.source.kernel.lineno)
    store = stores[-1]
    if "edge" in details:
        return _edge(store, details, at.source)
    if "missing" in details:
        for test, line in at.source.conditions(store):
            checks = at.source.tests_a_size(test) and _orders(test, at.source)
            return SlipLocation(line, "wrong-bounds-check" if checks else "")
    axis = 1 if "column" in details else 0
    if "missing offset" in details:
        return SlipLocation(missing_offset_line(at.source, store, axis, at.names))
    if "index" in details:
        return SlipLocation(_own_index_line(at.source, store, axis, at.names[0]))
    if "mapping" in details:
        return SlipLocation(mapping_line(at.source, store, axis, at.names))
    return SlipLocation(store.lineno)


def overwritten_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an element was written that should have stayed; details: its number."""
    lines = [line for line, cells in sorted(at.trail.cells.items()) if int(details[0]) in cells]
    return SlipLocation(lines[0]) if lines else store_place(at, [])


def _edge(store: ast.Subscript, details: list[str], source: Source) -> SlipLocation:
    """What keeps the last rows (or columns) from being stored: a test of that index, or its loop.

    A test of the other index is innocent.
    """
    slots = indices_of(store)
    nouns = [noun for noun in ("row", "column") if noun in details]
    axes = [{"row": 0, "column": 1}[noun] for noun in nouns] if len(slots) > 1 else [0]
    for axis in axes:
        for test, line in source.guards_of(store, axis):
            return SlipLocation(line, "wrong-bounds-check" if _orders(test, source) else "")
    for axis in axes:
        for loop in reversed(source.loops_around(store)):
            slot = slots[axis]
            if isinstance(slot, ast.Name) and slot.id in loop_names(loop):
                hint = say(
                    "For which {name} does this loop run last, and for which should it?",
                    name=slot.id,
                )
                return SlipLocation(bound_line(source, loop), "wrong-loop-bound", hint)
    return SlipLocation(store.lineno)


def _orders(test: ast.expr, source: Source) -> bool:
    """Does a test ask which of two numbers is the larger one? Equality checks no bounds."""
    if isinstance(test, ast.Name):
        before = source.last_assignment(test)
        return before is None or _orders(before.value, source)
    operators = [op for part in ast.walk(test) for op in getattr(part, "ops", ())]
    return not all(isinstance(op, (ast.Eq, ast.NotEq)) for op in operators)


def _own_index_line(source: Source, store: ast.Subscript, axis: int, loaded: str) -> int:
    """Where one index of a store is worked out, if the loads do not use it as well."""
    slots = indices_of(store)
    name = slots[axis].id if len(slots) > axis and isinstance(slots[axis], ast.Name) else ""  # type: ignore[attr-defined]
    shared = any(name in names_in(load.slice) for load in source.accesses(loaded, store=False))
    assigned = source.assignments(name)
    return store.lineno if shared or len(assigned) != 1 else assigned[0].lineno


def missing_offset_line(
    source: Source, store: ast.Subscript, axis: int, names: Sequence[str]
) -> int:
    """Where an index that has nothing of the block's number is worked out.

    That is where a variable that should hold the offset is set to a number, or the line of the
    index variable that loads use as well. Where the loads know their block, the store does not.
    """
    slots = indices_of(store)
    index = slots[min(axis, len(slots) - 1)]
    if depends_on(source, index, BLOCK):
        number = _numbering(source, index)
        if isinstance(number, ast.Name) and number is not index:
            return source.assignments(number.id)[0].lineno
        own = _own_index_line(source, store, axis, names[0])
        return own if own != store.lineno else mapping_line(source, store, axis, names)
    for name in sorted(names_in(index)):
        assigned = source.assignments(name)
        value = part_of(assigned[0], name) if len(assigned) == 1 else None
        if isinstance(value, ast.Constant):
            return assigned[0].lineno
    if not isinstance(index, ast.Name) or len(source.assignments(index.id)) != 1:
        return store.lineno
    made = source.assignments(index.id)[0]
    loads = [load for name in names[:-1] for load in source.accesses(name, store=False)]
    direct = any(
        isinstance(slot, ast.Name) and slot.id == index.id
        for load in loads
        for slot in indices_of(load)
    )
    known = any(depends_on(source, load.slice, BLOCK) for load in loads)
    value = part_of(made, index.id)
    if direct or not known or value is None or not is_number(value):
        return made.lineno
    return store.lineno


def _numbering(source: Source, index: ast.expr) -> ast.expr:
    """The variable behind an index in which a thread of the grid has its number, if there is one.

    For `row = i // N` with `i = cuda.grid(1)` that is i.
    """
    value = index
    while isinstance(value, ast.Name) and len(assigned := source.assignments(value.id)) == 1:
        inner = part_of(assigned[0], value.id)
        if inner is None or names_in(inner) & (BLOCK | THREAD):
            return value
        behind = [
            part
            for part in ast.walk(inner)
            if isinstance(part, ast.Name) and depends_on(source, part, BLOCK)
        ]
        if len(behind) != 1:
            return index
        value = behind[0]
    return index


def mapping_line(source: Source, store: ast.Subscript, axis: int, names: Sequence[str]) -> int:
    """Where the row or column that a thread writes is worked out.

    That is the line of the index variable, if the loads use it too; otherwise the store is alone
    in using it, and is to blame.
    """
    slots = indices_of(store)
    if len(slots) <= axis or not isinstance(slots[axis], ast.Name):
        return store.lineno
    name = slots[axis].id  # type: ignore[attr-defined]
    loads = [access for array in names[:-1] for access in source.accesses(array, store=False)]
    used = [part for access in loads for part in indices_of(access) if name in names_in(part)]
    direct = [part for part in used if isinstance(part, ast.Name)]
    value_lines = source.assignments(name)
    if value_lines and (direct or not loads):
        return value_lines[0].lineno
    return store.lineno


def shared_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The store into a tile, or the read from it, whichever has its indices exchanged."""
    for tile in sorted(at.source.staged(details[0])):
        for access in at.source.accesses(tile, store=True):
            first = at.source.origins(indices_of(access)[0])
            if first & THREAD and "x" in first and "y" not in first:
                return SlipLocation(access.lineno)
        for access in at.source.accesses(tile, store=False):
            return SlipLocation(access.lineno)
    return store_place(at, [])


def guard_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The test that decides whether an operand is read."""
    for access in at.source.accesses(details[0], store=False):
        for _, line in at.source.guards(access):
            return SlipLocation(line, "wrong-bounds-check")
    return SlipLocation(None)


def padding_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where a tile gets a value that is not an element: the cells past the edge."""
    operands = set(at.names[:-1])
    for tile in sorted(at.source.shared_names()):
        for access in at.source.accesses(tile, store=True):
            statement = at.source.statement(access)
            if not isinstance(statement, ast.Assign):
                continue
            value = statement.value
            chooses = isinstance(value, ast.IfExp)
            if chooses or not at.source.origins(value) & operands:
                return SlipLocation(statement.lineno)
    return load_place(at, [at.names[0]])


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


def staged_line(source: Source, trail: Trail, operand: str) -> int | None:
    """Where an operand goes astray that was loaded completely: into its tile, or out of it.

    None if a part of it was never loaded, or if there is no tile.
    """
    reads = tile_reads(source, operand)
    if not reads or not trail.loaded[operand].all():
        return None
    for tile in sorted(source.staged(operand)):
        for store in source.accesses(tile, store=True):
            if _puts_elsewhere(source, store, operand):
                return store.lineno
    return reads[0].lineno


def tile_reads(source: Source, operand: str = "") -> list[ast.Subscript]:
    """Where the tiles are read: all of them, or that of one operand."""
    tiles = source.staged(operand) if operand else source.shared_names()
    return [each for tile in sorted(tiles) for each in source.accesses(tile, store=False)]


def _puts_elsewhere(source: Source, store: ast.Subscript, operand: str) -> bool:
    """Is an element put into a row of the tile that has to do with its column only?"""
    statement, inside = source.statement(store), indices_of(store)
    first = ast.unparse(inside[0])
    for load in source.accesses(operand, store=False):
        outside = indices_of(load)
        if source.statement(load) is not statement or not len(inside) == len(outside) == 2:
            continue
        row, column = map(ast.unparse, outside)
        if first not in row and first in column:
            return True
    return False


def common_step_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a variable is set, in the loop over the tiles, that the loads of both operands use."""
    loads = [in_loops(source, name)[:1] for name in names[:2]]
    if not all(loads):
        return None
    common = set.intersection(*({*source.origins(load.slice)} for (load,) in loads))
    tiles = source.loops_around(loads[0][0])[:1]
    for name in sorted(common):
        for statement in source.assignments(name):
            changing = set().union(*map(loop_names, tiles)) - {name}
            if source.loops_around(statement)[:1] == tiles and names_in(statement) & changing:
                return statement.lineno
    return None


def in_loops(source: Source, array: str) -> list[ast.Subscript]:
    """Where an array is read, first those places that a loop comes to."""
    return sorted(
        source.accesses(array, store=False), key=lambda load: not source.loops_around(load)
    )
