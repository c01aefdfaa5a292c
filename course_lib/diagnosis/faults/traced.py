"""The faults that the emulator saw, traced to causes where the source shows them.

Barriers that not all threads reach, loops that take the whole budget, numbers of the wrong type,
rounding, and cells of a shared array that nobody has filled.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.faults.symptoms import without_wraps
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import (
    APART,
    OUTSIDE,
    Trial,
    array_of,
    counts_of,
    exact_of,
)
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import (
    has,
    head_of,
    names_in,
    outside,
    part_of,
    root_name,
    target_of,
    walk,
    wide_accesses,
)
from course_lib.diagnosis.words import tell
from course_lib.emulator import KernelRejected, OpenLoop
from course_lib.emulator.language.intrinsics import Cast
from course_lib.emulator.language.typings import Typing
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital, Line, facts_of

SHOWN_WITH_SIZES = (*OUTSIDE, "wrong-bounds-check", "uninitialised-read")
MOST_OF_A_CODE = 12  # findings of one launch that are looked at


def _few_of_each_code(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The first findings of each code: a text of thousands of lines can have thousands of them."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] <= MOST_OF_A_CODE:
            yield finding


def faults_of(launcher: Launcher, trial: Trial) -> list[Finding]:
    """What the emulator found in one launch, traced to causes where the source shows them."""
    found = []
    for finding in _few_of_each_code(without_wraps(trial.profile.findings)):
        if finding.code in launcher.exercise.forgiven:
            continue
        if finding.code == "float64-arithmetic":
            finding = explain_float64(finding, launcher.source)
        if finding.code == "timeout":
            finding = explain_timeout(finding, trial.profile.stopped_in, launcher.budget_of(trial))
        if finding.code == APART:
            finding = explain_divergence(finding, launcher.source)
        finding = about_buffers(launcher.exercise, finding, bool(trial.profile.barriers))
        is_shown = finding.code in SHOWN_WITH_SIZES and not trial.case.exact
        tells_sizes = launcher.problem.sizes_vary and (finding.code == APART or is_shown)
        found.append(launcher.seen_in(trial, finding, tells_sizes))
    return found


def about_buffers(exercise: Exercise, found: Finding, has_barriers: bool) -> Finding:
    """A race in a kernel with several buffers: another barrier is seldom what is missing."""
    in_turns = isinstance(exercise, Task) and exercise.barriers_along and has_barriers
    if in_turns and found.code == "race-read-after-write":
        return tell.again("buffers in turns", found)
    if not exercise.overlaps:
        return found
    if found.code != "race-write-after-read" or found.other_line is None:
        return found
    return tell.again("one of several buffers", found, line=Line(found.other_line))


# --- Barriers that not all threads reach, and loops that take the whole budget -------------------


OWN = {"threadIdx", "grid", "laneid"}  # what differs from thread to thread
LEAVES = (ast.Return, ast.Break, ast.Continue)
BRANCHING = (ast.If, ast.IfExp, ast.For, ast.While)


def explain_divergence(finding: Finding, source: Source) -> Finding:
    """A barrier that not all threads reach, at the exit that parts them or at what they call; a
    `syncthreads` in a branch or loop is itself in the wrong place."""
    barrier, line = source.at_line(finding.line or 0), None
    if len(finding.threads) > 1 and barrier:
        gone = facts_of(finding.message).get("why") == "has already returned"
        line = (parting_line(source, barrier, (ast.Return,)) if gone else None) or parting_line(
            source, barrier
        )
    if line is None or line == finding.line or barrier is None:
        return finding
    is_plain = names_in(barrier) & {"syncthreads", "syncwarp"}
    around = [node for node in source.ancestors(barrier) if isinstance(node, BRANCHING)]
    is_within = any(head_of(node).lineno == line for node in around)
    at = finding.line if is_plain and is_within else line
    return tell.again("parted", finding, at, line=Capital(Line(line)))


def parting_line(
    source: Source, barrier: ast.AST, leaves: tuple[type[ast.stmt], ...] = LEAVES
) -> int | None:
    """The nearest test or bound of a loop that depends on the thread: around a barrier, or around
    a call of the function that it is in, or with one of these leaves in it."""
    waiting = [barrier]
    for node in waiting:  # grows by the calls of a device function
        around = [*source.ancestors(node)] if leaves is LEAVES else []
        function = source.function_of(node) or source.kernel
        lines = {
            head_of(part).lineno
            for part in ast.walk(function)
            if isinstance(part, BRANCHING) and (part in around or has(part, *leaves))
            if source.everything_behind(head_of(part)) & OWN
        }
        if lines:
            line: int = node.lineno  # type: ignore[attr-defined]
            return min(lines, key=lambda head: (head > line, abs(head - line)))
        if function is not source.kernel:
            calls = source.calls_by_name(function.name)
            waiting += [call for call in calls if call not in waiting]
    return None


def explain_timeout(finding: Finding, loop: OpenLoop | None, budget: str) -> Finding:
    """A kernel that took more than its budget, at the line of the loop that took it.

    A `while` may never end. A `for` does: there, it turns too often, or too few threads share the
    work; which of the two it is cannot be told from the steps.
    """
    if loop is None:
        return tell.again("out of steps", finding, budget=budget)
    kind = "out of steps in a loop" if loop.ends else "loop without an end"
    line, turns = Line(loop.line), f"{loop.turns:,}"
    return tell.again(kind, finding, loop.line, budget=budget, line=line, turns=turns)


# --- Numbers of the wrong type, and rounding -----------------------------------------------------


FLOAT64 = {"float64", "double"}
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)
CONSTANTS = {"inf", "nan", "pi", "e"}  # of math: float64, like any number of Python


def explain_float64(finding: Finding, source: Source) -> Finding:
    """float64 arithmetic as an error (every exercise asks for float32), at the line it comes from.

    A sum is float64 from its first value on: `acc = 0.0` is to blame, not `acc += ...`.
    """
    statement = source.at_line(finding.line or 0)
    origin = None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        names = _names(statement.value) | {root_name(target_of(statement)) or ""}
        origin = None if is_float64(statement.value) else _origin(source, names, statement)
    finding = replace(finding, severity="error")
    if origin is None:
        return finding
    in_array = source.makes_array(source.at_line(origin))
    kind = "float64 in an array" if in_array else "float64"
    return tell.again(kind, finding, origin, line=Line(finding.line or 0))


def _origin(source: Source, names: set[str], statement: ast.stmt) -> int | None:
    """The first line that gives one of these variables a float64, or one that they are made of."""
    known: set[str] = set()
    while names - known:
        known |= names
        given = [
            (assignment.lineno, part_of(assignment, name))
            for name in sorted(names)
            for assignment in source.assignments(name)
            if assignment is not statement
        ]
        lines = [line for line, value in given if is_float64(value)]
        if lines:
            return min(lines)
        names = set().union(*(_names(value) for _, value in given if value))
    return None


def _names(value: ast.expr) -> set[str]:
    """The variables whose type an expression may have."""
    return {node.id for node in outside(value) if isinstance(node, ast.Name)}


def is_float64(value: ast.expr | None) -> bool:
    """Does an expression contain float64: a bare number, or the type by its name?"""
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


def depends_on_rounding(
    launcher: Launcher, trials: Sequence[Trial], unsteady: Trial | None
) -> Finding | None:
    """An answer that is right, or cheap, only where every product is rounded by itself.

    `unsteady`: a launch that went wrong, and is right with products rounded to the nearest number.
    """
    exact = exact_of(trials)
    if exact is None or not all(trial.right for trial in trials):
        return None
    lines = _lines_that_test_numbers(launcher)
    seen = unsteady or (launcher.run(exact.case, either_rounding=True) if lines else exact)
    if seen.right and counts_of(seen.profile) == counts_of(exact.profile):
        return None
    return launcher.seen_in(seen, tell("rounding", min(lines, default=None)), is_told=False)


def _lines_that_test_numbers(launcher: Launcher) -> set[int]:
    """The lines on which a number that is no integer decides what happens next."""
    typings = [typing for one in launcher.typings.values() for typing in one.functions]
    return {
        node.lineno
        for typing in typings
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.expr | ast.stmt)
        if any(_is_float(typing, decide) for decide in _decides(typing, node))
    }


def _decides(typing: Typing, node: ast.AST) -> Iterator[ast.expr]:
    """What a comparison, a test or a cast to an integer looks at."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, TESTS):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(typing.calls.get(node), Cast):
        result = typing.types.get(node)
        yield from node.args if isinstance(result, np.dtype) and result.kind in "iub" else ()


def _is_float(typing: Typing, node: ast.expr) -> bool:
    kind = typing.types.get(node)
    return isinstance(kind, np.dtype) and kind.kind == "f"


# --- Cells of a shared array that are read, and that nobody has written ---------------------------


MOST_LIFTED = 6  # stores whose test is left out


def told_where_filled(seen: Finding, launcher: Launcher, trials: Sequence[Trial]) -> Finding:
    """A read of an empty cell, told at the store that should have filled it.

    That is the store that does so once the test around it is left out, or the only one to the
    array. The read may be as wrong as the store; but a tile is made for the cells that are read.
    """
    source, array = launcher.source, array_of(seen.cell)
    stores = source.accesses(array, store=True)
    shown = next((trial for trial in trials if _is_among(trial.errors, seen)), None)
    lines = {store.lineno for store in stores}
    is_late = "line" in facts_of(seen.hint)  # another line fills the cell, and after the read
    if shown is None or is_late or array not in source.shared_names() or seen.line in lines:
        return seen
    there = {"array": array, "read": Line(seen.line or 0)}
    told = replace(seen, other_line=seen.line)
    for store in stores[:MOST_LIFTED]:
        branch = next(
            (ancestor for ancestor in source.ancestors(store) if isinstance(ancestor, ast.If)), None
        )
        if branch and _fills_without(branch, store, launcher, shown, seen):
            test = Line(branch.test.lineno)
            return tell.again("filled under a test", told, store.lineno, **there, test=test)
    if len(lines) == 1 and not _is_passed_on(array, source):
        return tell.again("filled here", told, stores[0].lineno, **there)
    return seen


def _is_passed_on(array: str, source: Source) -> bool:
    """Is the array an argument of a call that may fill it, as an atomic operation does?"""
    return any(
        isinstance(argument, ast.Name) and argument.id == array
        for node in source.walk()
        if isinstance(node, ast.Call) and not any(wide_accesses(node))
        for argument in node.args
    )


def _fills_without(
    branch: ast.If, store: ast.AST, launcher: Launcher, trial: Trial, seen: Finding
) -> bool:
    """Is the cell filled once all threads take the arm of a branch in which a store stands?"""
    holds = any(store in ast.walk(part) for part in branch.body)
    for tree in launcher.source.functions:
        for node, path in walk(tree):
            if node is branch:
                decided = {(*path, ("test", None)): ast.Constant(holds)}
                edit = Edit("", branch.lineno, 0, tree, decided)  # type: ignore[arg-type]
                changed = edit.applied(launcher.answer.kernel)
                try:  # where all threads store there, they race; that says nothing of the cell
                    profile, _ = Search(launcher, [trial]).watched(trial, changed, races=False)
                except KernelRejected:
                    return False
                return not _is_among(profile.findings, seen)
    return False


def _is_among(findings: Iterable[Finding], seen: Finding) -> bool:
    place = seen.code, seen.line, seen.cell
    return any((finding.code, finding.line, finding.cell) == place for finding in findings)
