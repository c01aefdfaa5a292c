"""The line behind wrong steps of k: loops that end early, begin again, or stride too far."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.families.access_lines import common_step_line, guard_place
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import loop_names, names_in, root_name
from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line
from course_lib.sentences import Line


def first_product_line(source: Source) -> int | None:
    """Where a sum is begun with a product, before the loop that adds the others."""
    additions = source.additions()
    looped = [each for each in additions if source.loops_around(each)]
    for each in additions:
        if isinstance(each, ast.Assign) and looped and not source.loops_around(each):
            name = root_name(each.targets[0])
            added = [root_name(_target(other)) for other in looped]
            if name in added and name not in names_in(each.value):
                return each.lineno
    return None


def _target(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    return statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]


def all_read_to_be_added(source: Source, trail: Trail, names: Sequence[str]) -> bool:
    """Is every element of A and B read, by the very statements that add products?"""
    if not all(trail.loaded[name].all() for name in names[:2]):
        return False
    adding = source.additions()
    return not source.own_arrays() and all(
        source.statement(load) in adding
        for name in names[:2]
        for load in source.accesses(name, store=False)
    )


def unused_sum_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the result is stored, if several sums are collected; else where products are added."""
    stores = source.accesses(names[-1], store=True)
    if len(source.sums()) > 1 and stores:
        return stores[-1].lineno
    additions = source.additions()
    return additions[-1].lineno if additions else None


def stride_between_tiles(source: Source, names: Sequence[str]) -> SlipLocation:
    """Where the loop over the tiles takes its step: its head, its counter, or the tile's start."""
    loops = [
        loop
        for load in source.accesses(names[0], store=False)
        for loop in source.loops_around(load)[:1]
    ]
    if not loops:
        return SlipLocation(None)
    loop = loops[0]
    if isinstance(loop, ast.While):
        steps = _counter_steps(loop)
        return SlipLocation(steps[0].lineno if steps else loop.lineno)
    if isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 3:
        return SlipLocation(loop.lineno)
    return SlipLocation(common_step_line(source, names) or loop.lineno, "wrong-index")


def _counter_steps(loop: ast.While) -> list[ast.AugAssign]:
    """Where a loop's counter goes on."""
    return [
        part
        for part in ast.walk(loop)
        if isinstance(part, ast.AugAssign) and names_in(part.target) & names_in(loop.test)
    ]


def early_end(source: Source, trail: Trail) -> SlipLocation | None:
    """A `return` or `break` that ended the loop that adds, or the test that led to it."""
    for statement in source.additions()[:1]:
        for loop in source.loops_around(statement):
            for each in ast.walk(loop):
                ends = isinstance(each, ast.Return) or (
                    isinstance(each, ast.Break) and source.loops_around(each)[-1] is loop
                )
                if ends and each.lineno in trail.lines:  # type: ignore[attr-defined]
                    above = source.parents[each]
                    line = above.lineno if isinstance(above, ast.If) else each.lineno  # type: ignore[attr-defined]
                    hint = "After how many iterations does this line end the loop?"
                    return SlipLocation(line, hint=hint)
    return None


def double_step(source: Source) -> SlipLocation | None:
    """Where the counter of one loop goes on in each turn of another one within."""
    for loop in source.loops():
        for step in _counter_steps(loop) if isinstance(loop, ast.While) else ():
            inner = source.loops_around(step)[-1]
            counts = names_in(step.target) & loop_names(inner) or _adds_in(source, inner)
            if inner is not loop and not counts:
                hint = "How often does this line run in one iteration of the loop over the tiles?"
                return SlipLocation(step.lineno, hint=hint)
    return None


def _adds_in(source: Source, loop: ast.For | ast.While) -> bool:
    return any(loop in source.loops_around(statement) for statement in source.additions())


def rest_place(source: Source, names: Sequence[str]) -> SlipLocation | None:
    """Where the steps that are left over are visited: the last of several loops that add.

    A loop of its own over elements of A and B begins at the wrong one; with tiles, it is the load.
    """
    additions = sorted(source.additions(), key=lambda each: each.lineno)
    loops = [around for each in additions if (around := source.loops_around(each))]
    own = [loop for loop in loops[-1] if loop not in loops[0]] if loops else []
    if not own:
        return None
    last = own[0]
    within = list(ast.walk(last))
    loads = source.accesses(names[0], store=False)
    if any(load in within for load in loads):
        return SlipLocation(loop_start_line(source, last, after=loops[0][-1].end_lineno or 0))
    return SlipLocation(loads[-1].lineno, "wrong-index") if len(loads) > 1 else None


def loop_line(source: Source, inner: bool, names: Sequence[str]) -> int | None:
    """The line of the bound of the loop over tiles, or over the steps within."""
    loops: list[ast.For | ast.While] = []
    additions = source.additions()
    if additions:
        loops = source.loops_around(_in_the_answer(source, additions[0]))
    if not inner:
        for access in source.accesses(names[0], store=False):
            around = source.loops_around(access)
            if around:
                loops = around
                break
    if not loops:
        loops = source.loops()
    if not loops:
        return None
    return bound_line(source, loops[-1] if inner or len(loops) == 1 else loops[0])


def _in_the_answer(source: Source, node: ast.AST) -> ast.AST:
    """A node of the answer itself: for one in a function around it, the call that leads there."""
    passed: set[str] = set()
    while getattr(node, "lineno", 0) >= Line.FIRST_AROUND:
        inside = (each for each in source.ancestors(node) if isinstance(each, ast.FunctionDef))
        name = next((each.name for each in inside), "")
        calls = [
            each
            for each in source.walk()
            if isinstance(each, ast.Call) and root_name(each.func) == name
        ]
        if not calls or name in passed:
            break
        passed.add(name)
        node = calls[-1]
    return node


def changing_line(source: Source) -> int | None:
    """Where a sum is changed in a loop by anything but the products that are added to it."""
    adding = source.additions()
    for name in source.sums():
        for each in source.assignments(name):
            from_itself = isinstance(each, ast.AugAssign) or name in names_in(each.value or each)
            if each not in adding and from_itself and source.loops_around(each):
                return each.lineno
    return None


def choosing_test(source: Source) -> ast.expr | None:
    """A test, and none of a size, that decides within the loop whether a product is added."""
    for statement in source.additions():
        loops = source.loops_around(statement)
        for test, _ in source.conditions(statement) if loops else ():
            if not source.tests_a_size(test) and any(test in ast.walk(loop) for loop in loops):
                return test
    return None


def never_reached(source: Source, statement: ast.stmt, trail: Trail) -> SlipLocation:
    """What kept every thread from a statement: the outermost loop or test that none went into."""
    within: ast.AST = statement
    blocks = []
    for each in source.ancestors(statement):
        if isinstance(each, (ast.For, ast.While, ast.If)) and within in (*each.body, *each.orelse):
            body = each.body if within in each.body else each.orelse
            blocks.append((each, body[0].lineno))
        within = each
    for block, first in reversed(blocks):
        if first in trail.lines:
            continue
        if isinstance(block, ast.If):
            return SlipLocation(
                block.test.lineno, hint="For which threads should this test be true?"
            )
        hint = "How many iterations does this loop make here, and how many should it?"
        return SlipLocation(bound_line(source, block), "wrong-loop-bound", hint)
    return SlipLocation(statement.lineno)


def steps_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Missing steps: of a loop that ends early, or of a load whose test is too strict."""
    if "often" in details:
        line = first_product_line(at.source)
        if line:
            hint = "Which products are in the sum before the loop, and which does the loop add?"
            return SlipLocation(line, "accumulator-error", hint)
    if "rest" in details:
        place = rest_place(at.source, at.names)
        if place is not None:
            return place
    if "stride" in details:
        return stride_between_tiles(at.source, at.names)
    if "left out" in details and all_read_to_be_added(at.source, at.trail, at.names):
        hint = "All steps are read: where do the products of the others go?"
        return SlipLocation(unused_sum_line(at.source, at.names), "accumulator-error", hint)
    test = choosing_test(at.source) if "left out" in details else None
    if test and names_in(test) & at.source.loop_variables(test):
        return SlipLocation(
            test.lineno, "accumulator-error", "For which steps of k is this test true?"
        )
    if "left out" in details or "tiles" in details:
        place = early_end(at.source, at.trail) or double_step(at.source)
        if place:
            return place
    steps = list(at.steps)
    a, b = at.trail.loaded.get(at.names[0]), at.trail.loaded.get(at.names[1])
    if a is not None and b is not None and steps and max(steps) < a.shape[1]:
        no_a, no_b = not a[:, steps].any(), not b[steps].any()
        if no_a != no_b:
            guard = guard_place(at, [at.names[0] if no_a else at.names[1]])
            if guard.line:
                return guard
        if not no_a and not no_b:
            return SlipLocation(loop_line(at.source, inner=True, names=at.names))
    return SlipLocation(loop_line(at.source, inner="inner" in details, names=at.names))
