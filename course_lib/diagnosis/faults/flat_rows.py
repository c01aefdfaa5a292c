"""A flat index that takes the rows of an array for longer or shorter than they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from course_lib.diagnosis.source.source import Source
from course_lib.findings import Finding
from course_lib.sentences import say

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
            message = say(
                "{seen} The index reckons with rows of {taken} elements, and a row of {array} has "
                "{length}.",
                seen=found.message,
                taken=taken,
                array=name,
                length=length,
            )
            hint = say("At which flat index does row 1 of {array} begin?", array=name)
            return replace(found, message=message, hint=hint)
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
