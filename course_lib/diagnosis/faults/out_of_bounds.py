"""Why a thread left an array: the index, the test before it, or the loop that counts it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from course_lib.diagnosis.codes import OUTSIDE, array_of
from course_lib.diagnosis.faults import thread_tests
from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.source.source import Source, Threads, bound_line, value_in
from course_lib.diagnosis.source.tree import (
    THREAD,
    indices_of,
    loop_names,
    names_in,
    root_name,
)
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital, Line, facts_of

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True)
class Stray:
    """An access outside an array, and the thread that made it.

    Attributes:
        found: what the emulator saw.
        source: the answer.
        access: where it is written.
        axis, index: along which axis it went astray, and how far.
        shapes: of the arrays that the kernel is given, by their names.
        thread: where the thread stands; None where that is not known.
    """

    found: Finding
    source: Source
    access: ast.Subscript
    axis: int
    index: int
    shapes: Mapping[str, tuple[int, ...]]
    thread: Threads | None

    @property
    def length(self) -> int:
        """Of that axis; 0 where it is not known."""
        shape = self.shapes.get(array_of(self.found.cell), ())
        return shape[self.axis] if shape else 0

    @property
    def slot(self) -> ast.expr:
        """The index as it is written."""
        return indices_of(self.access)[self.axis]


def explain_outside(
    each: Finding,
    reach: Mapping[str, tuple[int, ...]],
    source: Source,
    letters: Mapping[str, Sequence[str]],
    launch: Threads,
) -> Finding:
    """The cause of an access outside an array, if the source shows one; else the finding itself.

    `reach` is the shape of each array rounded up to whole tiles: no thread of the launch, and no
    step of a tile, has any business beyond it. `letters` names the size of every axis: ("M", "K").
    """
    array = array_of(each.cell)
    access = _access_at(source, array, each)
    place = facts_of(each.message).get("place")
    if access is None or not isinstance(place, tuple):
        return each
    axis, index = place
    if axis >= len(indices_of(access)):
        return each
    thread = thread_tests.thread_of(each, launch)
    stray = Stray(each, source, access, axis, index, launch.shapes, thread)
    slot = stray.slot
    if isinstance(slot, ast.Constant):  # a number is no thread's own, so no test is missing
        return tell.again("number as an index", each)
    looping = source.origins(slot) & source.loop_variables(access)
    if array not in launch.shapes:
        return _outside_tile(stray)
    if source.stands_on_another_axis(access, array, axis, letters):
        return _on_another_axis(each, access, slot)
    output = list(launch.shapes)[-1]
    if not looping and stray.thread is not None:
        right = thread_tests.is_right_for(source, access, output, stray.thread)
        if right:
            return _goes_too_far(stray, output if right == "its own" else "")
    if source.guards(access) and index >= reach[array][axis]:
        named = isinstance(slot, ast.Name)
        tested = _other_test(stray, sizes=False) if named else None
        return tested or _goes_too_far(stray)
    if looping:
        return _outside_in_loop(stray)
    return _check_to_blame(stray, source.guards(access)) or _other_test(stray) or each


def _on_another_axis(each: Finding, access: ast.Subscript, slot: ast.expr) -> Finding:
    """The index is kept below the length of another axis than the one it stands on."""
    words = {"index": ast.unparse(slot), "access": ast.unparse(access)}
    return tell.again("on another axis", each, array=array_of(each.cell), **words)


def _goes_too_far(stray: Stray, output: str = "") -> Finding:
    """No test is to blame: it is right to let this thread pass, or none lets a thread go this far.

    `output` is named where the thread has an element of it.
    """
    beyond = stray.index - stray.length + 1
    return tell.again(
        "goes too far by itself" if output else "goes too far",
        stray.found,
        seen=Capital(stray.found.message),
        index=ast.unparse(stray.slot),
        goes=f"goes {beyond} too far" if 0 < beyond <= stray.length else "is far outside",
        output=output,
    )


def _access_at(source: Source, array: str, each: Finding) -> ast.Subscript | None:
    """The access that a finding is about; of several in a line the one that reaches furthest."""
    there = [
        access
        for access in source.accesses(array, store=each.code.endswith("write"))
        if each.line is not None and access.lineno <= each.line <= (access.end_lineno or 0)
    ]
    place = facts_of(each.message).get("place")
    axis = place[0] if isinstance(place, tuple) else 0
    return max(there, key=lambda access: _further(access, axis), default=None)


def _further(access: ast.Subscript, axis: int) -> int:
    """The number that an index adds: 1 for `A[y, k + 1]` along axis 1."""
    slots = indices_of(access)
    match slots[axis] if axis < len(slots) else None:
        case ast.BinOp(op=ast.Add(), right=ast.Constant(int(number))):
            return number
    return 0


def _outside_tile(stray: Stray) -> Finding:
    """Outside a shared array: the loop over it runs too far, if its variable is that index."""
    each, source, access, slot = stray.found, stray.source, stray.access, stray.slot
    variables = source.loop_variables(access)
    if isinstance(slot, ast.Name) and slot.id in variables and each.code == OUTSIDE[0]:
        loops = source.loops_around(access)
        own = [loop for loop in loops if slot.id in loop_names(loop)]
        loop = (own or loops)[-1]
        of_tile = array_of(each.cell) in source.shared_names()
        kind = "past the end of a tile" if of_tile else "past the end"
        return tell.again(kind, each, bound_line(source, loop))
    return each


def one_for_each_array(faults: Sequence[Finding], own: Collection[str]) -> list[Finding]:
    """Of the accesses outside an array that the kernel makes itself the first one; a write first.

    Where an array is too small, or filled with the wrong index, all the others only follow.
    """
    outside = [
        finding
        for finding in faults
        if finding.cell in own and finding.code in (*OUTSIDE, "wrong-loop-bound")
    ]
    first: dict[str, Finding] = {}
    for finding in sorted(outside, key=lambda each: each.code != "out-of-bounds-write"):
        first.setdefault(finding.cell, finding)
    return [
        finding for finding in faults if finding not in outside or finding is first[finding.cell]
    ]


def without_wide_followers(faults: Sequence[Finding], source: Source) -> list[Finding]:
    """Without accesses of 16 bytes that end outside in a loop of which is known that it runs too
    far: the source tells nothing of a flat index, and they follow from that loop."""
    too_long = {finding.line for finding in faults if finding.code == "wrong-loop-bound"}
    lines = {
        line
        for loop in source.walk()
        if isinstance(loop, (ast.For, ast.While)) and bound_line(source, loop) in too_long
        for line in range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
    }
    return [
        finding
        for finding in faults
        if finding.code not in OUTSIDE or finding.line not in lines or not _is_wide(finding)
    ]


def _is_wide(each: Finding) -> bool:
    return "place" not in facts_of(each.message)


def _outside_in_loop(stray: Stray) -> Finding:
    """Outside A or B along k: a test within the loop is wrong, or the loop itself is too long."""
    each, source, access, slot = stray.found, stray.source, stray.access, stray.slot
    loops = source.loops_around(access)
    around = source.guards_of(access, stray.axis)
    inside = [guard for guard in source.guards(access) if _within(guard[0], loops)]
    check = _check_to_blame(stray, inside)
    if check:
        return check
    if isinstance(slot, ast.BinOp) and not source.origins(slot) & THREAD:
        if isinstance(slot.right, ast.Constant) and _in_strides(loops[-1]):
            line = bound_line(source, loops[-1])
            return tell("several steps at a time", line, seen=each.message)
        counted = _counted_to_the_end(slot, loops[-1])
        if counted and not source.differs_between_threads(slot):
            line = bound_line(source, loops[-1])
            return tell("too long", line, seen=each.message, variable=counted)
        return _leaves(each, slot)
    if isinstance(slot, ast.Name) and not source.origins(slot) & THREAD:
        grown = _grown_before(source, access, slot.id, loops[-1])
        if grown:
            words = {"counter": slot.id, "line": line_of(each)}
            return tell("too early", grown, seen=each.message, **words)
        own = [loop for loop in loops if slot.id in loop_names(loop)]
        if _reaches_elsewhere(stray, (own or loops)[-1]):
            return _leaves(each, slot)
        line = bound_line(source, (own or loops)[-1])
        tested = any(_within(test, loops) for test, _ in source.conditions(access))
        kind = "too long, or not tested" if tested else "too long"
        return tell(kind, line, seen=each.message, variable=slot.id, line=line_of(each))
    if around and each.code.endswith("write"):
        return _wrong_check(stray, *around[0])
    return each


def _leaves(each: Finding, slot: ast.expr) -> Finding:
    """The loop may end where it should, but its index is not the one that was meant."""
    return tell.again("leaves", each, index=ast.unparse(slot))


def _reaches_elsewhere(stray: Stray, loop: ast.For | ast.While) -> bool:
    """Does the loop use the same number as an index of another array, one that is long enough?"""
    name = stray.slot.id if isinstance(stray.slot, ast.Name) else ""
    return any(
        name in stray.source.everything_behind(index)
        for array, shape in stray.shapes.items()
        for access in stray.source.accesses(array, store=False)
        if loop in stray.source.loops_around(access)
        for index, length in zip(indices_of(access), shape, strict=False)
        if length > stray.index
    )


def _counted_to_the_end(slot: ast.BinOp, loop: ast.For | ast.While) -> str:
    """The variable of the innermost loop, if an index adds it, as it is, to where a tile begins."""
    parts = (slot.left, slot.right)
    if not isinstance(slot.op, ast.Add) or any(isinstance(part, ast.Constant) for part in parts):
        return ""
    counters = [part.id for part in parts if isinstance(part, ast.Name)]
    return next((name for name in counters if name in loop_names(loop)), "")


def _grown_before(
    source: Source, access: ast.Subscript, counter: str, loop: ast.For | ast.While
) -> int | None:
    """Where a `while` counts on before the access of the same turn."""
    statement = source.statement(access)
    if not isinstance(loop, ast.While) or statement not in loop.body:
        return None
    for each in loop.body[: loop.body.index(statement)]:
        if isinstance(each, ast.AugAssign) and root_name(each.target) == counter:
            return each.lineno
    return None


def line_of(each: Finding) -> Line:
    """The line of what was seen in a launch: that always has one."""
    assert each.line is not None
    return Line(each.line)


def _in_strides(loop: ast.For | ast.While) -> bool:
    """Does a loop count in steps larger than one?"""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        step = loop.iter.args[2] if len(loop.iter.args) == 3 else None
        return step is not None and not (isinstance(step, ast.Constant) and step.value == 1)
    return isinstance(loop, ast.While) and any(
        isinstance(part, ast.AugAssign)
        and names_in(part.target) & names_in(loop.test)
        and not (isinstance(part.value, ast.Constant) and part.value.value == 1)
        for part in ast.walk(loop)
    )


def _within(test: ast.expr, loops: Sequence[ast.For | ast.While]) -> bool:
    """Is the test part of the body of one of the loops?"""
    return any(test is node for loop in loops for part in loop.body for node in ast.walk(part))


def _check_to_blame(stray: Stray, tests: Sequence[tuple[ast.expr, int]]) -> Finding | None:
    """The test of the index that left the array; else the nearest, that says nothing of it.

    An index that is the same for all threads is no matter of tests.
    """
    each, source, access, slot = stray.found, stray.source, stray.access, stray.slot
    about = [guard for guard in source.guards_of(access, stray.axis) if guard in tests]
    if about:
        return _wrong_check(stray, *about[0])
    if not tests or not source.differs_between_threads(slot):
        return None
    line = tests[0][1]
    kind = "test of something else" if each.line != line else "test of something else, here"
    return tell.again(kind, each, line, index=ast.unparse(slot), line=line_of(each))


def _other_test(stray: Stray, sizes: bool = True) -> Finding | None:
    """A test that compares the index with something else than a size: with a number, say. One
    that compares it with the `sizes` of another array is taken for such a test, too."""
    source, slot = stray.source, stray.slot
    for test, line in source.conditions(stray.access):
        for part in ast.walk(test):
            if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], _ORDERS):
                continue
            if not sizes and _is_size(source, part.comparators[0]):
                continue
            if isinstance(part.left, ast.Name) and part.left.id in names_in(slot):
                return _wrong_check(stray, test, line)
    return None


def _is_size(source: Source, node: ast.expr) -> bool:
    """Is it the length of an axis, or the name of one?"""
    means: ast.expr = node
    for each in source.assignments(node.id) if isinstance(node, ast.Name) else ():
        means = each.value or node
        target = each.targets[0] if isinstance(each, ast.Assign) else each.target
        if isinstance(target, ast.Tuple) and isinstance(means, ast.Tuple):  # a, b = 1, 2
            names = [ast.unparse(name) for name in target.elts]
            if ast.unparse(node) in names and len(names) == len(means.elts):
                means = means.elts[names.index(ast.unparse(node))]
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("shape", "size")
        for part in ast.walk(means)
    )


def _wrong_check(stray: Stray, test: ast.expr, line: int) -> Finding:
    """A test lets a thread pass that it should stop: its clauses, worked out for that thread."""
    clauses = stray.thread and thread_tests.worked_out(stray.source, test, stray.thread)
    kind = "test passed, worked out" if clauses else "test passed"
    return tell.again(kind, stray.found, line, line=line_of(stray.found), clauses=clauses)


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
    return tell.again("index by itself", each, slot.lineno, index=index, number=number)
