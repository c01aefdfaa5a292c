"""Numbers that go wrong: float64, narrow types, rounding, wrong indices, a lost thread number."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.codes import OUTSIDE, array_of, is_misaligned
from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import (
    flat,
    names_in,
    outside,
    part_of,
    root_name,
    wide_accesses,
)
from course_lib.diagnosis.trial import Trial, counts_of, exact_of
from course_lib.emulator.inference.infer import all_typings
from course_lib.emulator.language.intrinsics import Cast
from course_lib.emulator.language.typings import Typing
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

NARROW = {"int8", "uint8", "int16", "uint16"}
FLOAT64 = {"float64", "double"}
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)
CONSTANTS = {"inf", "nan", "pi", "e"}  # of math: float64, like any number of Python


def largest_of(kind: str) -> int:
    """The largest number of an integer type, by its name."""
    bits = int(kind.removeprefix("u").removeprefix("int"))
    return (1 << (bits if kind.startswith("u") else bits - 1)) - 1


def narrow_index(source: Source, shortest: int) -> Finding | None:
    """The finding for an index in 8 or 16 bits that ends below the length `shortest`."""
    for node in source.walk():
        if isinstance(node, ast.Call) and names_in(node.func) & NARROW:
            kind = sorted(names_in(node.func) & NARROW)[0]
            fixed = all(isinstance(argument, ast.Constant) for argument in node.args)  # k = int8(0)
            if largest_of(kind) >= shortest or fixed:
                continue
            return tell("narrow index", node.lineno, kind=kind)
    return None


def explain_float64(each: Finding, source: Source) -> Finding:
    """float64 arithmetic as an error (every exercise asks for float32), at the line it comes from.

    A sum is float64 from its first value on: `acc = 0.0` is to blame, not `acc += ...`.
    """
    statement = source.at_line(each.line or 0)
    origin = None
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        names = _names(statement.value) | {root_name(target) or ""}
        origin = None if is_float64(statement.value) else _origin(source, names, statement)
    each = replace(each, severity="error")
    if origin is None:
        return each
    in_array = source.makes_array(source.at_line(origin))
    kind = "float64 in an array" if in_array else "float64"
    return tell.again(kind, each, origin, line=Line(each.line or 0))


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
    typings = [typing for one in launcher.typings.values() for typing in all_typings(one, set())]
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


# --- Indices for rows of another length, or set by given lines ------------------------------------


EXPLAINED = ("uninitialised-read", "out-of-bounds-read", "out-of-bounds-write")


def explain_row_length(
    found: Finding, source: Source, shapes: Mapping[str, Sequence[int]]
) -> Finding:
    """A fault of a wide access, explained by an index that multiplies by the wrong length of a row.

    `shapes` has the arrays' shapes by their names. Anything else leaves the finding as it is.
    """
    name = found.cell.split("[", 1)[0]
    shape = shapes.get(name, ())
    if found.code not in EXPLAINED or len(shape) != 2:
        return found
    length = shape[1]
    for index in flat_indices(source, name, found.line):
        taken = max(_factors(index), default=length)
        if taken != length and length < 2 * taken < 4 * length:  # about as long as a row
            words = {"taken": taken, "array": name, "length": length}
            return tell.again("rows of another length", found, **words)
    return found


def flat_indices(source: Source, array: str, line: int | None) -> Iterator[ast.expr]:
    """The flat indices into an array on a line."""
    for node in source.walk():
        for name, index, _ in wide_accesses(node):
            first = getattr(node, "lineno", 0)
            if (
                name == array
                and line
                and first <= line <= (getattr(node, "end_lineno", 0) or first)
            ):
                yield index


def _factors(index: ast.expr) -> Iterator[int]:
    """The whole numbers that something is multiplied by."""
    for node in ast.walk(index):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side in (node.left, node.right):
                if isinstance(side, ast.Constant) and type(side.value) is int:
                    yield side.value


def explain_given_line(each: Finding, exercise: Exercise, source: Source) -> Finding:
    """A wide access that leaves its array in a given line, explained by the statement that sets its
    index.

    Anything else leaves the finding as it is.
    """
    if not isinstance(exercise, Task) or not (each.code in OUTSIDE or is_misaligned(each)):
        return each
    given = {ast.unparse(node) for node in ast.walk(ast.parse(exercise.given)) if _is_plain(node)}
    statement = source.at_line(each.line) if each.line else None
    if each.line is None or statement is None or ast.unparse(statement) not in given:
        return each
    indices = flat_indices(source, array_of(each.cell), each.line)
    used = sorted({name for index in indices for name in names_in(index)})
    own = {
        name: source.assignments(name)
        for name in used
        if any(ast.unparse(set_here) not in given for set_here in source.assignments(name))
    }
    lines = {set_here.lineno for several in own.values() for set_here in several}
    if len(lines) != 1:
        return each
    kind = "given line, of several" if len(own) > 1 else "given line"
    return tell.again(kind, each, lines.pop(), at=Line(each.line), names=" and ".join(own))


def _is_plain(node: ast.AST) -> bool:
    """Is it a statement that contains no other statements?"""
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


# --- A thread's own number, lost to a narrow type or to a loop of the same name -------------------
# What follows from it looks like anything: a race, a wrong test, an offset that is missing. So it
# is looked for before them, in answers that are wrong.


OWN = {"threadIdx", "blockIdx", "grid", "laneid"}  # what distinguishes a thread


def lost_number(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """The finding for a thread's number that a wrong answer loses."""
    wrong = [trial for trial in trials if not trial.right or trial.errors]
    if not wrong:
        return None
    return _overwritten(launcher.source, launcher.names[-1])


def _overwritten(source: Source, output: str) -> Finding | None:
    """A loop that counts with the name of a thread's number, which is needed behind its head."""
    for loop in source.loops():
        for name in _counted_with(loop):
            made = _own_number(source, name, loop)
            used = next(_still_used(source, name, loop, output), None) if made else None
            if made is None or used is None:
                continue
            words = {"name": name, "made": Line(made), "used": Line(used)}
            return tell("number overwritten by a loop", loop.lineno, **words)
    return None


def _counted_with(loop: ast.stmt) -> list[str]:
    """The names that a loop counts with."""
    targets = flat(loop.target) if isinstance(loop, ast.For) else ()
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _own_number(source: Source, name: str, loop: ast.stmt) -> int | None:
    """The line before a loop, in its function, that gives a name the number of a thread."""
    for assignment in source.assignments(name):
        value = part_of(assignment, name)
        if assignment.lineno < loop.lineno and _function(source, assignment) is _function(
            source, loop
        ):
            if value is not None and source.everything_behind(value) & OWN:
                return assignment.lineno
    return None


def _still_used(source: Source, name: str, loop: ast.stmt, output: str) -> Iterator[int]:
    """The lines that read a name after a loop has counted with it, or store there meanwhile."""
    end = loop.end_lineno or loop.lineno
    set_anew = (
        *source.assignments(name),
        *(other for other in source.loops() if name in _counted_with(other)),
    )
    again = [statement.lineno for statement in set_anew if statement.lineno > end]
    for node in ast.walk(_function(source, loop)):
        if not isinstance(node, ast.Name) or node.id != name or node.lineno <= end:
            continue
        if isinstance(node.ctx, ast.Load) and not any(line <= node.lineno for line in again):
            yield node.lineno
    for store in source.accesses(output, store=True):
        tests = [test for test, _ in source.conditions(loop)]
        if loop in source.loops_around(store) and name in names_in(store.slice):
            if any(name in names_in(test) for test in tests):
                yield store.lineno


def _function(source: Source, node: ast.AST) -> ast.AST:
    around = (each for each in source.ancestors(node) if isinstance(each, ast.FunctionDef))
    return next(around, source.kernel)
