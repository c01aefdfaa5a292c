"""Where in a scan the strides are counted, and where an element is added to a sum."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.sum_lines import sum_place
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.problems.scan import RUN, STRIDES
from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import indices_of, loop_names, names_in, root_name
from course_lib.diagnosis.source.source import Source, loop_start_line
from course_lib.sentences import say


def stride_line(source: Source) -> int | None:
    """The loop over the strides, which is the one around the adding; or what changes the stride."""
    steps: Sequence[ast.stmt] = tile_additions(source)
    if steps and not source.loops_around(steps[0]):
        shuffled = other_additions(source)[:1]  # the tile only hands on what the warps have
        steps = shuffled if shuffled and source.loops_around(shuffled[0]) else steps
    loops = source.loops_around(steps[0]) if steps else source.loops()
    return loops[-1].lineno if loops else (steps[-1].lineno if steps else None)


def stride_change_line(source: Source) -> int | None:
    """Where the stride gets its next value, in a loop that does not count it itself."""
    steps = tile_additions(source) or other_additions(source)
    for loop in reversed(source.loops_around(steps[0])) if steps else ():
        changing = source.loop_variables(loop.body[0]) if isinstance(loop, ast.While) else set()
        counted = loop_names(loop) if isinstance(loop, ast.For) else set()
        for name in sorted(changing or _distances(source, loop) or names_in(steps[0])):
            for statement in source.assignments(name):
                value = names_in(getattr(statement, "value", None) or statement)
                changes = isinstance(statement, ast.AugAssign) or value & (counted | {name})
                if statement is not steps[0] and changes and statement in ast.walk(loop):
                    return statement.lineno
    return None


def strides_gone_through(source: Source, trail: Trail) -> set[int]:
    """The distances at which a launch has read a tile, where the source adds such elements."""
    lines = [
        line
        for each in tile_additions(source)
        for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    ]
    # Where two buffers lie in one array, a neighbour is a whole run farther away, or nearer.
    return {far % RUN for line in lines for far in trail.distances.get(line, ())} & {*STRIDES}


def tile_to_output_line(source: Source, output: str) -> int | None:
    """Where elements of a tile are read to be stored in the output."""
    for store in source.accesses(output, store=True):
        statement = source.statement(store)
        value = getattr(statement, "value", None)
        before = source.last_assignment(value) if isinstance(value, ast.Name) else None
        for each in (statement, before):
            if each is not None and names_in(each) & source.shared_names():
                return each.lineno
    return None


def _distances(source: Source, loop: ast.For | ast.While) -> set[str]:
    """The variables that say, within a loop, how far away an element or a lane is."""
    found = set()
    for part in ast.walk(loop):
        if isinstance(part, ast.Subscript):
            for index in indices_of(part):
                value = source.value_of(index.id) if isinstance(index, ast.Name) else index
                if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Sub, ast.Add)):
                    found |= names_in(value.right)
        elif isinstance(part, ast.Call) and _shuffles(part) and part.args:
            found |= names_in(part.args[-1])
    return found


def _shuffles(call: ast.Call) -> bool:
    return any(name.startswith("shfl") for name in names_in(call.func))


def adding_test_line(source: Source) -> int | None:
    """The test that decides which threads add."""
    for statement in (*tile_additions(source), *other_additions(source)):
        chosen = [
            (part.test, part.lineno) for part in ast.walk(statement) if isinstance(part, ast.IfExp)
        ]
        for test, line in (*chosen, *source.conditions(statement)):
            orders = [op for part in ast.walk(test) for op in getattr(part, "ops", ())]
            if any(isinstance(op, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)) for op in orders):
                return line
    return None


def total_line(source: Source) -> int | None:
    """Where the sum of a warp is handed on: the test that picks its lane, else the store."""
    for name in sorted(source.shared_names()):
        for access in source.accesses(name, store=True):
            for test, line in source.conditions(access):
                if any(isinstance(op, ast.Eq) for op in getattr(test, "ops", ())):
                    return line
    return last_addition_line(source)


def tree_line(source: Source, part: str) -> int | None:
    """Where a tree is gone "up" or "down": the loop, and of that down its "start" or its "test"."""
    moves = [
        access
        for name in sorted(source.shared_names())
        for access in source.accesses(name, store=True)
        if any(_at_a_distance(source, index) for index in indices_of(access))
        and source.loops_around(access)
        and not isinstance(source.statement(access), ast.AugAssign)
    ]
    if part == "up" or not moves:
        additions = sorted(tile_additions(source), key=lambda each: each.lineno)
        loops = source.loops_around(additions[0]) if additions else []
        return loops[-1].lineno if loops else reading_line(source)
    if part == "test":
        for _, line in source.conditions(moves[0]):
            return line
    loop = source.loops_around(moves[0])[-1]
    start = loop_start_line(source, loop) if part == "start" else loop.lineno
    before = source.at_line(start)
    around = source.loops_around(before) if before else []
    return around[-1].lineno if around and around[-1] is not loop else start


def reading_line(source: Source) -> int | None:
    """Where an element at a distance is read, to be added."""
    steps = tile_additions(source) or other_additions(source)
    return steps[0].lineno if steps else None


def combining_line(source: Source) -> int | None:
    """Where such an element is added: there, or where the variable that holds it is used."""
    for statement in tile_additions(source):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name):
            return statement.lineno
        for later in source.walk():
            if not isinstance(later, (ast.Assign, ast.AugAssign)) or later is statement:
                continue
            if later.lineno > statement.lineno and target.id in names_in(later.value):
                return later.lineno
    others = other_additions(source)
    return others[0].lineno if others else None


def other_additions(source: Source) -> list[ast.AugAssign]:
    """Without a tile: where a variable grows that no loop counts with, deepest first."""
    found = [
        node
        for node in source.walk()
        if isinstance(node, ast.AugAssign)
        and root_name(node.target) not in source.loop_variables(node)
    ]
    return sorted(found, key=lambda node: (-len(source.loops_around(node)), node.lineno))


def last_addition_line(source: Source) -> int | None:
    """Where a variable grows for the last time."""
    return max((node.lineno for node in other_additions(source)), default=None)


def shuffle_line(source: Source) -> int | None:
    """Where lanes exchange numbers."""
    lines = [
        node.lineno for node in source.walk() if isinstance(node, ast.Call) and _shuffles(node)
    ]
    return min(lines, default=reading_line(source))


def copying_line(source: Source, x: str, y: str) -> int | None:
    """Where y gets an element of x itself; else where something should have been added."""
    for store in source.accesses(y, store=True):
        statement = source.statement(store)
        if statement is not None and x in names_in(statement):
            return statement.lineno
    steps = tile_additions(source)
    return max((each.lineno for each in steps), default=reading_line(source))


def tile_additions(source: Source) -> list[ast.stmt]:
    """The statements that read a tile at a distance: `s[t - stride]`."""
    found = []
    for name in sorted(source.shared_names()):
        for access in source.accesses(name, store=False):
            statement = source.statement(access)
            if statement is None or statement in found:
                continue
            if any(_at_a_distance(source, index) for index in indices_of(access)):
                found.append(statement)
    found.sort(key=lambda node: (-len(source.loops_around(node)), node.lineno))
    return found


def _at_a_distance(source: Source, index: ast.expr) -> bool:
    """Is the index another one minus (or plus) something?"""
    value = source.value_of(index.id) if isinstance(index, ast.Name) else index
    return isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Sub, ast.Add))


def exclusive_line(source: Source, x: str, y: str) -> int | None:
    """Where a scan loses the own element: at the load of a neighbour, else at the store."""
    for access in source.accesses(x, store=False):
        slot = indices_of(access)[-1]
        statement = source.statement(access)
        into_tile = isinstance(statement, ast.Assign) and (
            root_name(statement.targets[0]) in source.shared_names()
        )
        loops = source.loops_around(access)
        if loops and not source.shared_names():
            return loops[-1].lineno
        minus = isinstance(slot, ast.BinOp) and isinstance(slot.op, ast.Sub)
        if minus and (into_tile or not source.accesses(y, store=False)):
            return access.lineno
    stores = source.accesses(y, store=True)
    if not stores:
        return None
    statement = source.statement(stores[-1])
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Name) and not names_in(value) & source.shared_names():
        assigned = source.assignments(value.id)
        if assigned:
            return assigned[-1].lineno
    return stores[-1].lineno


def stride_place(at: Evidence, details: list[str]) -> SlipLocation:
    """What counts the strides; but where all of them are gone through, the store of old sums."""
    line = stride_change_line(at.source) if "change" in details else None
    later = strides_gone_through(at.source, at.trail) - set(at.steps) if at.steps else set()
    if later and (stored := tile_to_output_line(at.source, at.names[-1])):
        message = say(
            "The strides go on up to {last}, but what is stored are the sums of an earlier step, "
            "with the stride {stride}: each has at most {needed} elements.",
            last=max(later),
            stride=max(at.steps),
            needed=2 * max(at.steps),
        )
        hint = "Where do the sums of the last stride lie, and which ones does this line read?"
        return SlipLocation(stored, "stale-shared-read", hint, message)
    return SlipLocation(line or stride_line(at.source))


def adds_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where elements are read to be added, or added ("how"), or the test that decides who adds."""
    if "read" in details:
        return SlipLocation(reading_line(at.source) or sum_place(at, details).line)
    if "last" in details:
        return SlipLocation(last_addition_line(at.source))
    if "shuffle" in details:
        return SlipLocation(shuffle_line(at.source))
    if "total" in details:
        return SlipLocation(total_line(at.source))
    if "how" in details:
        return SlipLocation(combining_line(at.source))
    line = adding_test_line(at.source)
    return SlipLocation(line) if line else SlipLocation(stride_line(at.source), "wrong-loop-bound")


def tree_place(at: Evidence, details: list[str]) -> SlipLocation:
    return SlipLocation(tree_line(at.source, details[0]))


def copied_place(at: Evidence, details: list[str]) -> SlipLocation:
    return SlipLocation(copying_line(at.source, at.names[0], at.names[-1]))


def exclusive_place(at: Evidence, details: list[str]) -> SlipLocation:
    return SlipLocation(exclusive_line(at.source, at.names[0], at.names[-1]))
