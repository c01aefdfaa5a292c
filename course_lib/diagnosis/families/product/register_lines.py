"""The line behind a slip with register tiles: the tiles, the sums, and who owns which part of C."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.access_lines import in_loops, load_place, staged_line, tile_reads
from course_lib.diagnosis.families.product.step_lines import rest_place
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
    variables_in,
)
from course_lib.diagnosis.source.source import Source, depends_on


def owner_line(source: Source, who: str, noun: str, names: Sequence[str]) -> int | None:
    """Where the row or column that a block, or a thread, begins with is worked out.

    That is the variable's line if the loads use it, too; if the store alone uses it, the store is
    to blame. `who`: "block", "thread", or "store" where the threads' numbers are right.
    """
    stores = source.accesses(names[-1], store=True)
    if not stores:
        return None
    slots = indices_of(stores[-1])
    if who != "block" and _parts_ways(source, stores[-1]):
        return stores[-1].lineno
    chosen = {"column": slots[1:], "row": slots[:1]}.get(noun, slots)
    if who == "block":
        loads = [load for name in names[:-1] for load in source.accesses(name, store=False)]
    else:
        loads = tile_reads(source)
    used = set().union(*(source.origins(load.slice) for load in loads), set())
    for slot in chosen:
        for name, line in _worked_out(source, slot, BLOCK if who == "block" else THREAD):
            if (name in used) is (who != "store"):
                return line
    return stores[-1].lineno


def tiles_loop_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the tiles: the outermost one around the load of A."""
    for load in source.accesses(names[0], store=False):
        for loop in source.loops_around(load)[:1]:
            return loop.lineno
    return None


def steps_loop_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the steps of a tile: its variable is a column of A's tile."""
    for read in tile_reads(source, names[0]):
        for loop in reversed(source.loops_around(read)):
            if _counts(source, loop, indices_of(read)[-1]):
                return loop.lineno
    return None


def adding_loop_line(source: Source) -> int | None:
    """The loop over a thread's sums, where they are added to."""
    for statement in source.additions():
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        for loop in reversed(source.loops_around(statement)):
            if isinstance(target, ast.Subscript) and _counts(source, loop, target.slice):
                return loop.lineno
    return None


def _counts(source: Source, loop: ast.For | ast.While, index: ast.AST) -> bool:
    """Does the variable of a loop take part in an index?"""
    return bool(source.origins(index) & loop_names(loop))


def thread_test_line(source: Source, names: Sequence[str], column: bool) -> int | None:
    """What keeps elements from being stored: a test that is not of a size, or the loop."""
    for store in source.accesses(names[-1], store=True):
        for test, line in source.conditions(store):
            if not source.tests_a_size(test):
                return line
        for loop in reversed(source.loops_around(store)):
            if _counts(source, loop, indices_of(store)[1 if column else 0]):
                return loop.lineno
        return store.lineno
    return None


def same_tile_line(source: Source, operand: str) -> int | None:
    """Of two reads of one tile, the one that should have been of the other."""
    reads = tile_reads(source, operand)
    if not reads:
        return None
    return min(reads, key=lambda each: len(source.loops_around(each))).lineno


def _worked_out(source: Source, index: ast.AST, numbers: set[str]) -> list[tuple[str, int]]:
    """The variables that thread or block numbers bring into an index, the nearest first.

    A number that is only given a short name, such as `tid`, is not among them.
    """
    found, waiting = [], sorted(variables_in(index))
    for name in waiting:  # grows on the way
        assigned = source.assignments(name)
        value = part_of(assigned[0], name) if len(assigned) == 1 else None
        if value is None:
            continue
        if not is_number(value) and depends_on(source, value, numbers):
            found.append((name, assigned[0].lineno))
        waiting += sorted(variables_in(value) - set(waiting))
    return found


def part_line(source: Source, what: Sequence[str], names: Sequence[str]) -> int | None:
    """Where a thread's sums and the elements of C that they belong to part ways."""
    stores = source.accesses(names[-1], store=True)
    if not stores:
        return None
    store = stores[-1]
    changing = source.loop_variables(store)
    moves = _uses(source, store, changing)
    if "store" in what:
        loops = source.loops_around(store)
        return loops[-1].lineno if loops and moves else store.lineno
    if "again" in what:
        return _reset_line(source)
    if _parts_ways(source, store):
        return store.lineno
    odd = [each for each in source.additions() if _mixes(source, each, names)]
    if odd:
        return odd[0].lineno
    return _reading_line(source, "column" in what, names) or store.lineno


def _parts_ways(source: Source, store: ast.Subscript) -> bool:
    """Does a store put a sum elsewhere than its number says: always the same, or exchanged?"""
    sums, changing = source.sums(), source.loop_variables(store)
    slots = [source.origins_there(each) & changing for each in indices_of(store)]
    for each in ast.walk(source.statement(store) or store):
        if isinstance(each, ast.Subscript) and each is not store and root_name(each) in sums:
            numbers = [source.origins_there(part) & changing for part in indices_of(each)]
            if len(numbers) == 2 and numbers != slots:
                return True
            if set().union(*numbers) != set().union(*slots):
                return True
    return False


def _mixes(source: Source, addition: ast.Assign | ast.AugAssign, names: Sequence[str]) -> bool:
    """Does a product meet a sum of another row or column than its factors are numbered by?"""
    target = addition.target if isinstance(addition, ast.AugAssign) else addition.targets[0]
    if not isinstance(target, ast.Subscript) or len(indices_of(target)) != 2:
        return False
    wanted = [names_in(each) for each in indices_of(target)]
    for factor in ast.walk(addition.value):
        kept = source.local_stores(root_name(factor) or "") if _is_access(factor) else []
        for number, operand in enumerate(names[:2]):
            staged = source.staged(operand)
            if any(names_in(each.value) & staged for each in kept):
                if names_in(factor.slice) != wanted[number]:  # type: ignore[attr-defined]
                    return True
    return False


def _is_access(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript)


def _reset_line(source: Source) -> int | None:
    """Where the sums are set anew within the loop that adds; else where they are added."""
    additions = source.additions()
    around = source.loops_around(additions[0]) if additions else []
    for name in source.sums():
        for start in source.starts(name):
            if len(set(source.loops_around(start)) & set(around)) > 1:
                return start.lineno
    return additions[0].lineno if additions else None


def _uses(source: Source, access: ast.Subscript, variables: set[str]) -> bool:
    return bool(source.origins(access.slice) & variables)


def _reading_line(source: Source, column: bool, names: Sequence[str]) -> int | None:
    """Where a tile is read: that of B for columns, that of A for rows."""
    reads = tile_reads(source, names[1] if column else names[0])
    odd = [each for each in reads if not _owned(source, each, column)]
    chosen = odd or reads
    return chosen[0].lineno if chosen else None


def _owned(source: Source, read: ast.Subscript, column: bool) -> bool:
    """Does the row (or column) of a read depend on the thread and on a loop?"""
    origins = source.origins(indices_of(read)[-1 if column else 0])
    return bool(origins & THREAD) and bool(origins & source.loop_variables(read))


def owner_place(at: Evidence, details: list[str]) -> SlipLocation:
    return SlipLocation(owner_line(at.source, details[0], details[1], at.names))


def staged_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an operand goes astray: where it is loaded, or on the way through the tile."""
    line = staged_line(at.source, at.trail, details[0])
    return SlipLocation(line) if line else load_place(at, details)


def pitch_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where a tile is filled, or read, in rows of the wrong length."""
    operand, which = details
    if which == "read":
        return SlipLocation(staged_line(at.source, at.trail, operand))
    for load in in_loops(at.source, operand):
        around = at.source.loops_around(load)
        for name in sorted(names_in(load.slice)):
            for statement in at.source.assignments(name):
                if around and at.source.loops_around(statement) == around:
                    return SlipLocation(statement.lineno)
        return SlipLocation(load.lineno)
    return SlipLocation(None)


def part_place(at: Evidence, details: list[str]) -> SlipLocation:
    if "threads" in details:
        return SlipLocation(thread_test_line(at.source, at.names, "column" in details))
    if "twice" in details:
        return SlipLocation(same_tile_line(at.source, details[-1]))
    operand = at.names[1] if "column" in details else at.names[0]
    if {"read", "either"} & set(details) and not at.trail.loaded[operand].all():
        return load_place(at, [operand])
    return SlipLocation(part_line(at.source, details, at.names))


def tiles_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The loop over tiles, over the steps of a tile, or over the sums of a thread."""
    rest = rest_place(at.source, at.names) if "rest" in details else None
    if rest:
        return rest
    if "steps" in details:
        return SlipLocation(steps_loop_line(at.source, at.names))
    if "sums" in details:
        return SlipLocation(adding_loop_line(at.source))
    return SlipLocation(tiles_loop_line(at.source, at.names))
