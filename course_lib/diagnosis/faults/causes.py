"""From what the emulator saw to its cause: why a thread left an array, and which findings to keep.

The emulator reports a fault where it happens. Often the mistake is elsewhere: in the test that
should have kept the thread away, or in the bound of the loop that counted too far.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.diagnosis.source import (
    THREAD,
    Source,
    bound_line,
    indices_of,
    loop_names,
    names_in,
    outside,
    root_name,
)
from course_lib.emulator import OpenLoop
from course_lib.findings import Finding, by_importance, finding
from course_lib.sentences import Capital, Line, facts_of, say

OUTSIDE = ("out-of-bounds-read", "out-of-bounds-write")
# What makes every number doubtful: as long as one of these is there, numbers explain nothing.
DISORDER = (
    "barrier-divergence",
    "race-read-after-write",
    "race-write-after-read",
    "race-write-after-write",
    "uninitialised-read",
    "timeout",
)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
NARROW = {"int8", "uint8", "int16", "uint16"}
FLOAT64 = {"float64", "double"}
CONSTANTS = {"inf", "nan", "pi", "e"}  # of math: float64, like any number of Python
# What else a slip in the numbers brings about. An index that goes astray also leaves arrays, and
# makes threads meet at one element; a wrong formula reads where nothing is.
FOLLOWS = {
    "wrong-index": (*OUTSIDE, *DISORDER, "wrong-bounds-check", "wrong-loop-bound", "wrong-index"),
    "index-overflow": (
        *OUTSIDE,
        *DISORDER,
        "wrong-bounds-check",
        "wrong-loop-bound",
        "wrong-index",
    ),
    "wrong-formula": ("out-of-bounds-read", "wrong-bounds-check"),
    "hardcoded-answer": (*OUTSIDE, "wrong-bounds-check"),
}
# What only says that something is missing or wrong: dropped once a cause is known.
SYMPTOMS = ("stale-shared-read", "incomplete-output", "numerical-overflow", "wrong-result")


def explain_outside(
    each: Finding,
    shapes: Mapping[str, tuple[int, ...]],
    reach: Mapping[str, tuple[int, ...]],
    source: Source,
    letters: Mapping[str, Sequence[str]] | None = None,
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
    slots = indices_of(access)
    if axis >= len(slots):
        return each
    slot = slots[axis]
    if isinstance(slot, ast.Constant):  # a number is no thread's own, so no test is missing
        return replace(each, hint="Which element is meant? Indices count from 0.")
    looping = source.origins(slot) & source.loop_variables(access)
    if array not in shapes:
        return _outside_tile(each, source, access, slot)
    if source.stands_on_another_axis(access, array, axis, letters or {}):
        return _on_another_axis(each, access, slot)
    if not looping and source.counts_back_behind_right_tests(access, axis, letters or {}):
        return _counts_back(each, slot, axis)
    if source.guards(access) and index >= reach[array][axis]:
        return _far_outside(each, access, slot)
    if looping:
        return _outside_in_loop(each, source, access, axis)
    return (
        _check_to_blame(each, source, access, axis, source.guards(access))
        or _other_test(each, source, access, slot)
        or each
    )


def _on_another_axis(each: Finding, access: ast.Subscript, slot: ast.expr) -> Finding:
    """The index is kept below the length of another axis than the one it stands on."""
    message = say(
        "In {access}, {index} stands on an axis of another length: {seen}",
        index=ast.unparse(slot),
        access=ast.unparse(access),
        seen=each.message,
    )
    hint = say(
        "How far does {index} go, and which axis of {array} is as long?",
        index=ast.unparse(slot),
        array=array_of(each.cell),
    )
    return replace(each, code="wrong-index", message=message, hint=hint)


def _counts_back(each: Finding, slot: ast.expr, axis: int) -> Finding:
    """The thread has its element, but the index counts back from where the axis does not end."""
    index = ast.unparse(slot)
    message = say("The index {index} leaves the array: {seen}", index=index, seen=each.message)
    hint = say(
        "From which number should {index} count back? How long is axis {axis} of {array}?",
        index=index,
        axis=axis,
        array=array_of(each.cell),
    )
    return replace(each, code="wrong-index", message=message, hint=hint)


def _far_outside(each: Finding, access: ast.Subscript, slot: ast.expr) -> Finding:
    """No test lets a thread get this far: the index is not the one that was tested."""
    message = say(
        "The index {index} is far outside. {seen}",
        index=ast.unparse(slot),
        seen=Capital(each.message),
    )
    hint = say("Work out {index} by hand for the second tile or block.", index=ast.unparse(slot))
    return replace(each, code="wrong-index", message=message, hint=hint)


def array_of(cell: str) -> str:
    """The array of a cell: "A" for "A[3, 40]"."""
    return cell.split("[", 1)[0]


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


def _outside_tile(each: Finding, source: Source, access: ast.Subscript, slot: ast.expr) -> Finding:
    """Outside a shared array: the loop over it runs too far, if its variable is that index."""
    variables = source.loop_variables(access)
    if isinstance(slot, ast.Name) and slot.id in variables and each.code == OUTSIDE[0]:
        loops = source.loops_around(access)
        own = [loop for loop in loops if slot.id in loop_names(loop)]
        loop = (own or loops)[-1]
        message = say("The loop runs past the end of the tile: {seen}", seen=each.message)
        hint = "For which value does the loop over the tile run last?"
        line = bound_line(source, loop)
        return replace(each, code="wrong-loop-bound", message=message, line=line, hint=hint)
    return each


def one_for_each_array(faults: Sequence[Finding], own: Collection[str]) -> list[Finding]:
    """Of the accesses outside an array that the kernel makes itself the first one; a write first.

    Where an array is too small, or filled with the wrong index, all the others only follow.
    """
    outside = [
        each for each in faults if each.cell in own and each.code in (*OUTSIDE, "wrong-loop-bound")
    ]
    first: dict[str, Finding] = {}
    for each in sorted(outside, key=lambda each: each.code != "out-of-bounds-write"):
        first.setdefault(each.cell, each)
    return [each for each in faults if each not in outside or each is first[each.cell]]


def _outside_in_loop(each: Finding, source: Source, access: ast.Subscript, axis: int) -> Finding:
    """Outside A or B along k: a test within the loop is wrong, or the loop itself is too long."""
    slot = indices_of(access)[axis]
    loops = source.loops_around(access)
    around = source.guards_of(access, axis)
    inside = [guard for guard in source.guards(access) if _within(guard[0], loops)]
    check = _check_to_blame(each, source, access, axis, inside)
    if check:
        return check
    if isinstance(slot, ast.BinOp) and not source.origins(slot) & THREAD:
        if isinstance(slot.right, ast.Constant) and _in_strides(loops[-1]):
            message = say("Several steps at a time run past the end: {seen}", seen=each.message)
            hint = "For which k does the loop run last, and how many steps are left then?"
            line = bound_line(source, loops[-1])
            return finding("wrong-loop-bound", message, line, hint)
        counted = _counted_to_the_end(slot, loops[-1])
        if counted and not source.differs_between_threads(slot):
            return _too_long(each, source, loops[-1], counted)
        return _leaves(each, slot)
    if isinstance(slot, ast.Name) and not source.origins(slot) & THREAD:
        grown = _grown_before(source, access, slot.id, loops[-1])
        if grown:
            return _too_early(each, slot.id, grown)
        if each.code.endswith("write") and _starts_chunks(slot, loops, array_of(each.cell)):
            return _leaves(each, slot)
        return _too_long(each, source, loops[-1], slot.id)
    if around and each.code.endswith("write"):
        return _wrong_check(each, around[0][1])
    return each


def _leaves(each: Finding, slot: ast.expr) -> Finding:
    """The loop may end where it should, but its index is not the one that was meant."""
    index = ast.unparse(slot)
    message = say("The index {index} leaves the array: {seen}", index=index, seen=each.message)
    hint = say("Which element belongs to the last step, and which one is {index}?", index=index)
    return replace(each, code="wrong-index", message=message, hint=hint)


def _starts_chunks(slot: ast.Name, loops: Sequence[ast.For | ast.While], array: str) -> bool:
    """Is an index where a chunk begins, of a loop that covers all of another array in chunks?"""
    own = [loop for loop in loops if isinstance(loop, ast.For) and slot.id in loop_names(loop)]
    match own[-1].iter if own else None:
        case ast.Call(
            args=[ast.Constant(0), ast.Subscript(ast.Attribute(ast.Name(other), "shape")), chunk]
        ):
            return other != array and isinstance(chunk, ast.Constant) and chunk.value != 1
    return False


def _counted_to_the_end(slot: ast.BinOp, loop: ast.For | ast.While) -> str:
    """The variable of the innermost loop, if an index adds it, as it is, to where a tile begins."""
    parts = (slot.left, slot.right)
    if not isinstance(slot.op, ast.Add) or any(isinstance(each, ast.Constant) for each in parts):
        return ""
    counters = [each.id for each in parts if isinstance(each, ast.Name)]
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


def _line_of(each: Finding) -> Line:
    """The line of what was seen in a launch: that always has one."""
    assert each.line is not None
    return Line(each.line)


def _too_early(each: Finding, counter: str, line: int) -> Finding:
    message = say(
        "{counter} has already grown when {line} uses it: {seen}",
        counter=counter,
        line=_line_of(each),
        seen=each.message,
    )
    hint = say("Which {counter} does the first turn use, and which the last?", counter=counter)
    return finding("wrong-loop-bound", message, line, hint)


def _too_long(each: Finding, source: Source, loop: ast.For | ast.While, variable: str) -> Finding:
    message = say("The loop runs too far: {seen}", seen=each.message)
    hint = say(
        "For which {variable} does the loop run last, and how many steps are there?",
        variable=variable,
    )
    return finding("wrong-loop-bound", message, bound_line(source, loop), hint)


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


def _check_to_blame(
    each: Finding,
    source: Source,
    access: ast.Subscript,
    axis: int,
    guards: Sequence[tuple[ast.expr, int]],
) -> Finding | None:
    """The test of the index that left the array; else the nearest, that says nothing of it.

    An index that is the same for all threads is no matter of tests.
    """
    about = [guard for guard in source.guards_of(access, axis) if guard in guards]
    if about:
        return _wrong_check(each, about[0][1])
    slot = indices_of(access)[axis]
    if not guards or not source.differs_between_threads(slot):
        return None
    line = guards[0][1]
    message = say(
        "This test says nothing of {index}. At {line}, {seen}"
        if each.line != line
        else "The test here says nothing of {index}: {seen}",
        index=ast.unparse(slot),
        line=_line_of(each),
        seen=each.message,
    )
    hint = "Which test should stop this thread, where the element does not exist?"
    return replace(each, code="wrong-bounds-check", message=message, line=line, hint=hint)


def _other_test(
    each: Finding, source: Source, access: ast.Subscript, slot: ast.expr
) -> Finding | None:
    """A test that compares the index with something else than a size: with a number, say."""
    for test, line in source.conditions(access):
        for part in ast.walk(test):
            if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], _ORDERS):
                continue
            if isinstance(part.left, ast.Name) and part.left.id in names_in(slot):
                return _wrong_check(each, line)
    return None


def _wrong_check(each: Finding, line: int) -> Finding:
    message = say(
        "A test is there, but the wrong threads pass it. At {line}, {seen}",
        line=_line_of(each),
        seen=each.message,
    )
    hint = "Take the thread named here: which of its indices should have stopped it?"
    return replace(each, code="wrong-bounds-check", message=message, line=line, hint=hint)


def is_orderly(exact: Any, output: str) -> bool:
    """Did the launch on the exact shape go wrong without any fault but the store of the output?"""
    if exact is None or exact.right:
        return False
    return not any(each.code in DISORDER and not _on(each, output) for each in exact.errors)


def follows_overwriting(each: Finding, names: Sequence[str]) -> bool:
    """Does a fault follow from writing into an input, which other threads still read?"""
    return each.code in DISORDER and (
        array_of(each.cell) in names[:-1] or each.code == "uninitialised-read"
    )


def without_wraps(faults: Sequence[Finding]) -> list[Finding]:
    """What the emulator found, without those of an access whose index is negative.

    Such an index means another element, counted from the end: one that nobody has written, or
    that another thread writes.
    """
    wraps = {
        (array_of(each.cell), each.line)
        for each in faults
        if each.code == "wrong-index" and each.severity == "error"
    }
    return [
        each
        for each in faults
        if each.code not in ("uninitialised-read", "race-write-after-write")
        or (array_of(each.cell), each.line) not in wraps
    ]


def without_strays(faults: Sequence[Finding], tiles: set[str]) -> list[Finding]:
    """Faults without those that a store outside a tile brings about in the same tile.

    What should have filled a cell has gone elsewhere, so the cell stays empty, or another store
    hits it, too. A store that meets itself is wrong also where it stays inside.
    """
    left = {array_of(each.cell) for each in faults if each.code == "out-of-bounds-write"} & tiles
    lines = {each.line for each in faults if each.code == "out-of-bounds-write"}
    return [
        each
        for each in faults
        if array_of(each.cell) not in left
        or not (
            each.code == "uninitialised-read"
            or (
                each.code == "race-write-after-write"
                and each.line != each.other_line
                and {each.line, each.other_line} & lines
            )
        )
    ]


def keep_causes(
    faults: Iterable[Finding], cause: Finding | None, output: str, orderly: bool = False
) -> list[Finding]:
    """Faults of the emulator and the cause read off the numbers, without what only follows.

    `cause` is None if the numbers are right, or explain nothing. `orderly`: they were wrong where
    all tiles are full, too, without any fault; then cells that are empty elsewhere do not matter.
    """
    faults = once(faults)
    explains = cause is not None and cause.code == "index-overflow"  # all that an index brings
    if cause is None or (in_disorder(faults, output, orderly) and not explains):
        return by_importance(_without_symptoms(faults))
    if cause.code in SYMPTOMS:
        return by_importance(_without_symptoms([*faults, cause]))
    follows = FOLLOWS.get(cause.code, ()) + SYMPTOMS
    kept = [each for each in faults if each.code not in follows]
    return by_importance(once([cause, *kept]))


def arrays_left(faults: Iterable[Finding], arrays: Collection[str]) -> set[str]:
    """Those of these arrays that an access leaves."""
    return {array_of(each.cell) for each in faults if each.code in OUTSIDE} & set(arrays)


def lines_beyond(faults: Iterable[Finding], arrays: Collection[str]) -> set[int | None]:
    """The lines of accesses that leave one of these arrays."""
    return {each.line for each in faults if each.code in OUTSIDE and array_of(each.cell) in arrays}


def in_disorder(faults: Iterable[Finding], output: str, orderly: bool) -> bool:
    """Is there a fault that makes every number doubtful?"""
    return any(
        each.severity == "error"
        and each.code in DISORDER
        and not _on(each, output)
        and not (orderly and each.code == "uninitialised-read")
        for each in faults
    )


def in_order(faults: Iterable[Finding]) -> list[Finding]:
    """Faults without those that make numbers doubtful."""
    return [each for each in faults if each.severity != "error" or each.code not in DISORDER]


def _on(each: Finding, array: str) -> bool:
    """Is the finding about this array?"""
    return array_of(each.cell) == array


def _without_symptoms(findings: Sequence[Finding]) -> list[Finding]:
    """Drop what only follows, unless there is nothing else."""
    errors = [each for each in findings if each.severity == "error"]
    symptoms: tuple[str, ...] = SYMPTOMS
    if any(each.code == "barrier-divergence" for each in errors):
        symptoms = (*SYMPTOMS, *DISORDER[1:])  # without the barrier, everything may happen
    causes = [each for each in errors if each.code not in symptoms]
    if not causes:
        lowest = min(errors, key=lambda each: SYMPTOMS.index(each.code), default=None)
        return [each for each in findings if each.severity != "error" or each is lowest]
    return [each for each in findings if each.severity != "error" or each in causes]


def once(findings: Iterable[Finding]) -> list[Finding]:
    """The first finding of each code and line; a later one of the same adds nothing.

    Of barriers that not all threads reach, the first is to blame: once the threads of a block are
    apart, they miss the later ones as well. Of cells that are overwritten too early, the line
    that still reads them names the race. A race of the same threads, lines and cell is the same.
    """
    seen: dict[tuple[str, int | None], Finding] = {}
    races: set[object] = set()
    # What is harmless in one launch may be an error in another one.
    for each in sorted(findings, key=lambda each: each.severity != "error"):
        if each.code.startswith("race-"):
            lines = frozenset((each.line, each.other_line))
            race = (each.code, lines, each.cell, each.threads, each.blocks)
            if race in races:
                continue
            races.add(race)
        line = each.line
        if each.code == "barrier-divergence":
            line = None
        if each.code == "race-write-after-read":
            line = each.other_line
        seen.setdefault((each.code, line), each)
    return list(seen.values())


def largest_of(kind: str) -> int:
    """The largest number of an integer type, by its name."""
    bits = int(kind.removeprefix("u").removeprefix("int"))
    return (1 << (bits if kind.startswith("u") else bits - 1)) - 1


def narrow_index(source: Source, shortest: int) -> Finding | None:
    """The finding for an index in 8 or 16 bits that ends below the length `shortest`."""
    for node in source.walk():
        if isinstance(node, ast.Call) and names_in(node.func) & NARROW:
            kind = sorted(names_in(node.func) & NARROW)[0]
            fixed = all(isinstance(each, ast.Constant) for each in node.args)  # k = int8(0)
            if largest_of(kind) >= shortest or fixed:
                continue
            message = say(
                "An index kept as {kind} wraps around where the array is longer than that.",
                kind=kind,
            )
            hint = say("Which is the largest number that {kind} can hold?", kind=kind)
            return finding("index-overflow", message, node.lineno, hint)
    return None


def explain_timeout(each: Finding, loop: OpenLoop | None, budget: str) -> Finding:
    """A kernel that took more than its budget, at the line of the loop that took it.

    A `while` may never end. A `for` does: there, it turns too often, or too few threads share the
    work; which of the two it is cannot be told from the steps.
    """
    if loop is None:
        return replace(each, message=say("The kernel needs more than {budget}.", budget=budget))
    if loop.ends:
        message = say(
            "The kernel needs more than {budget}; it was last in the loop of {line}, in turn "
            "{turns}. Either the loop turns too often, or too few threads share the work.",
            budget=budget,
            line=Line(loop.line),
            turns=f"{loop.turns:,}",
        )
    else:
        message = say(
            "The loop in {line} does not end within {budget}.", line=Line(loop.line), budget=budget
        )
    return replace(each, line=loop.line, message=message)


def allow_unused(each: Finding, names: Sequence[str]) -> Finding:
    """A read of a cell that nobody wrote is no error where no result depends on it.

    The emulator fills such cells with not-a-number, so right results prove that none does. An
    array of the kernel's caller is another matter: there, what stands in the cell is a mistake.
    """
    if each.code != "uninitialised-read" or array_of(each.cell) in names or "[" not in each.cell:
        return each
    if each.severity == "warning":
        return each  # the emulator has tried it out
    message = say("{seen} No result depends on it here.", seen=each.message)
    return replace(each, severity="warning", message=message)


def explain_float64(each: Finding, source: Source) -> Finding:
    """float64 arithmetic as an error (every exercise asks for float32), at the line it comes from.

    A sum is float64 from its first value on: `acc = 0.0` is to blame, not `acc += ...`.
    """
    statement = source.at_line(each.line or 0)
    origin = None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        names = {node.id for node in outside(statement.value) if isinstance(node, ast.Name)}
        lines = [
            assignment.lineno
            for name in sorted(names | {root_name(target) or ""})
            for assignment in source.assignments(name)
            if assignment is not statement and is_float64(assignment.value)
        ]
        origin = None if is_float64(statement.value) else min(lines, default=None)
    if origin is None:
        return replace(each, severity="error")
    message = say(
        "This makes {line} compute in float64; the exercise asks for float32.", line=_line_of(each)
    )
    hint = each.hint
    if source.makes_array(source.at_line(origin)):
        hint = "Which type do the elements of this array have, and which type do A's have?"
    return replace(each, severity="error", message=message, line=origin, hint=hint)


def is_float64(value: ast.expr | None) -> bool:
    """Does an expression bring float64 in: a bare number, or the type by its name?"""
    if value is None:
        return False
    if isinstance(value, ast.Call) and names_in(value.func) & {"float32"}:
        return False
    if isinstance(value, ast.Call) and "array" in names_in(value.func):
        return bool(names_in(value) & FLOAT64)  # the numbers in it are its shape
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)))
        or (isinstance(node, (ast.Name, ast.Attribute)) and names_in(node) & FLOAT64)
        or (isinstance(node, ast.Attribute) and node.attr in CONSTANTS)
        for node in outside(value)
    )
