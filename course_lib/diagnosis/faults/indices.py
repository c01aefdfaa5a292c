"""Indices worked out wrong: for rows of another length, in a given line, alike for two threads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.codes import OUTSIDE, array_of, is_misaligned
from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.source.in_a_thread import Threads, value_in
from course_lib.diagnosis.source.nodes import indices_of, names_in, part_of
from course_lib.diagnosis.source.source import Source
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

# Where the arrays stand among the arguments; the index follows each.
ARRAYS = {"load4": (0,), "store4": (0,), "store2": (0,), "cp_async16": (0, 2), "cp_async4": (0, 2)}
EXPLAINED = ("uninitialised-read", "out-of-bounds-read", "out-of-bounds-write")


def explain_row_length(
    found: Finding, source: Source, shapes: Mapping[str, Sequence[int]]
) -> Finding:
    """A fault of a wide access whose index multiplies by another length of a row, explained so.

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
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if line is None or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        for place in ARRAYS.get(node.func.id, ()):
            given = node.args[place : place + 2]
            if len(given) == 2 and isinstance(given[0], ast.Name) and given[0].id == array:
                yield given[1]


def _factors(index: ast.expr) -> Iterator[int]:
    """The whole numbers that something is multiplied by."""
    for node in ast.walk(index):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side in (node.left, node.right):
                if isinstance(side, ast.Constant) and type(side.value) is int:
                    yield side.value


def explain_given_line(each: Finding, exercise: Exercise, source: Source) -> Finding:
    """A wide access that goes astray in a given line, told where one own statement sets its index.

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
    """Is it a statement that holds no others?"""
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def explain_meeting(each: Finding, source: Source, block: Sequence[int]) -> Finding:
    """A race of two threads that store at one line, at the number that they have in common.

    That is a variable made of the thread's index along two axes, from which alone the indices of
    the store follow. Anything else leaves the finding as it is.
    """
    same_line = each.line == each.other_line and len(set(each.blocks)) < 2
    if each.code != "race-write-after-write" or not same_line or len(each.threads) != 2:
        return each
    stores = source.accesses(each.cell.split("[", 1)[0], store=True)
    store = next((access for access in stores if access.lineno == each.line), None)
    if store is None:
        return each
    for name in sorted(source.everything_behind(store)):
        made = source.assignments(name)
        value = _value_of(source, name)
        if value is None or len(_axes_in(source, value)) < 2:
            continue
        if any(_axes_in(source, index, name) for index in indices_of(store)):
            continue
        numbers = {
            value_in(source, value, Threads(thread, block_size=block)) for thread in each.threads
        }
        if len(numbers) == 1 and None not in numbers:
            line = made[0].lineno
            words = {"name": name, "number": numbers.pop(), "line": Line(line)}
            return tell.again("one number for two threads", each, line, **words)
    return each


def _value_of(source: Source, name: str) -> ast.expr | None:
    """What a variable is set to, if that is one place."""
    assigned = source.assignments(name)
    if len(assigned) != 1 or not isinstance(assigned[0], ast.Assign):
        return None
    return part_of(assigned[0], name)


def _axes_in(source: Source, value: ast.AST, but_for: str = "", depth: int = 4) -> set[str]:
    """The axes of threadIdx that an expression is made of, not by way of one variable."""
    found: set[str] = set()
    for part in ast.walk(value):
        if isinstance(part, ast.Attribute) and part.attr in "xyz":
            if isinstance(part.value, ast.Attribute) and part.value.attr == "threadIdx":
                found.add(part.attr)
        elif isinstance(part, ast.Name) and part.id != but_for and depth:
            behind = _value_of(source, part.id)
            if behind is not None:
                found |= _axes_in(source, behind, but_for, depth - 1)
    return found
