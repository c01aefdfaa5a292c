"""From a slip to its line: the finders for loads, stores, calls and sums, and the table of all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.places.steps import (
    division_place,
    divisor_place,
    exchange_place,
    exponential_place,
    largest_place,
    mask_place,
    named_place,
    product_place,
    test_place,
)
from course_lib.diagnosis.slip import Evidence, Slip
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import names_in, root_name


def load_place(at: Evidence, details: list[str]) -> int | None:
    """Where an operand is read, or where the index for it is computed."""
    array = details[0] if details else at.names[0]
    accesses = at.source.accesses(array, store=False)
    if accesses:
        return accesses[-1 if "last" in details else 0].lineno
    handed = at.source.handed_over(array)
    if handed:
        return handed[-1 if "last" in details else 0].lineno
    lines = at.trail.load_lines.get(array, ()) or at.trail.store_lines.get(array, ())
    return lines[0] if lines else None


def store_place(at: Evidence, details: list[str]) -> int | None:
    """Where the output is written: of several lines, the last that any thread came to."""
    stores = at.source.accesses(at.names[-1], store=True)
    stores = [store for store in stores if store.lineno in at.trail.lines] or stores
    if stores:
        return stores[-1].lineno
    lines = at.trail.store_lines.get(at.names[-1], ())
    return lines[0] if lines else at.source.kernel.lineno


def call_place(at: Evidence, details: list[str]) -> int | None:
    """The last call of a function that a slip names; of several functions, the first that is
    called.

    Behind "with" stands what such a call has among its arguments.
    """
    end = details.index("with") if "with" in details else len(details)
    wanted = {*details[end + 1 :]}
    for name in details[:end]:
        calls = [
            call
            for call in at.source.calls_by_name(name)
            if wanted <= {root_name(argument) for argument in call.args}
        ]
        if calls:
            fetches = name.startswith("ldmatrix")  # what is wrong is at which index, then
            return at.source.line_of_index(calls[-1]) if fetches else calls[-1].lineno
    return store_place(at, [])


# --- Lines of a sum: where it starts, grows, is scaled or truncated -------------------------------


INTEGERS = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"}


def sum_place(at: Evidence, details: list[str]) -> int | None:
    additions = at.source.additions()
    if not additions:
        return None
    for statement in additions:  # each product replaces the sum, or the sum is set anew before it
        if isinstance(statement, ast.AugAssign) and "replaced" in details:
            name = root_name(statement.target)
            around = at.source.loops_around(statement)
            starts = at.source.starts(name) if name else []
            # A sum of several elements is set in loops of its own, within the one that adds.
            shared = [
                sum(loop in around for loop in at.source.loops_around(start)) for start in starts
            ]
            if max(shared, default=0):
                return starts[shared.index(max(shared))].lineno
    return additions[0].lineno


def start_place(at: Evidence, details: list[str]) -> int | None:
    """Where the sum is set to its first value ("anew": in each turn)."""
    for name in at.source.sums():
        starts = at.source.starts(name)
        if starts:
            deepest = max(starts, key=lambda node: len(at.source.loops_around(node)))
            return (deepest if "anew" in details else starts[0]).lineno
    return None


def integer_place(at: Evidence, details: list[str]) -> int | None:
    """Where an integer type, or a division that cuts off, comes in."""
    for node in at.source.walk():
        if isinstance(node, ast.Call):
            called = names_in(node.func) if not isinstance(node.func, ast.Call) else set()
            typed = {name for keyword in node.keywords for name in names_in(keyword.value)}
            arguments = {name for argument in node.args for name in names_in(argument)}
            arrays = bool(called & {"array"}) and bool((typed | arguments) & INTEGERS)
            if called & INTEGERS or arrays:
                return node.lineno
    for statement in at.source.additions():
        if any(isinstance(part, ast.FloorDiv) for part in ast.walk(statement)):
            return statement.lineno
    for node in at.source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            if any(_is_element(part, at.names) for part in ast.walk(node)):
                return node.lineno
    return None


def loop_place(at: Evidence, details: list[str]) -> int | None:
    """The first loop; else the store."""
    loops = at.source.loops()
    return loops[0].lineno if loops else store_place(at, [])


def _is_element(node: ast.AST, names: Sequence[str]) -> bool:
    """Is it an element of one of the arrays, and no entry of a shape?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in names


def chosen_place(at: Evidence, details: list[str]) -> int | None:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = [node for node in at.source.walk() if isinstance(node, (ast.If, ast.IfExp))]
    lines = [node.test.lineno for node in tests if at.source.loops_around(node)]
    return max(lines) if lines else store_place(at, [])


# --- The table of finders -------------------------------------------------------------------------


# The kinds of places, as slips and entries name them; what else a place says goes to the finder.
FINDERS: dict[str, Callable[[Evidence, list[str]], int | None]] = {
    "load": load_place,
    "store": store_place,
    "call": call_place,
    "sum": sum_place,
    "start": start_place,
    "integer": integer_place,
    "named": named_place,
    "product": product_place,
    "divisor": divisor_place,
    "division": division_place,
    "exponential": exponential_place,
    "largest": largest_place,
    "mask": mask_place,
    "test": test_place,
    "exchange": exchange_place,
    "chosen": chosen_place,
    "loop": loop_place,
}


def locate(
    slip: Slip,
    source: Source,
    trail: Trail,
    names: Sequence[str],
    letters: Sequence[str] = "ABC",
) -> int | None:
    """The line to blame for a slip; `names` are the kernel's own for the exercise's letters.

    The letter "A" in a slip's place always stands for the first input.
    """
    kind, *details = slip.place or ("",)
    if kind not in FINDERS:
        return None
    translate = {"A": names[0], **dict(zip(letters, names, strict=False))}
    evidence = Evidence(source, trail, names)
    return FINDERS[kind](evidence, [translate.get(detail, detail) for detail in details])
