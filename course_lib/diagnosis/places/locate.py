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
    start_of_place,
    test_place,
)
from course_lib.diagnosis.places.words import ITERATIONS, TEST
from course_lib.diagnosis.slip import Evidence, Slip, SlipLocation
from course_lib.diagnosis.source.source import Source, bound_line
from course_lib.diagnosis.source.tree import indices_of, names_in, outside, root_name


def load_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an operand is read, or where the index for it is computed."""
    array = details[0] if details else at.names[0]
    slots = [
        {"row": 0, "column": 1}[detail] for detail in details[1:] if detail in ("row", "column")
    ]
    accesses = at.source.accesses(array, store=False)
    for access in accesses[-1:] if "last" in details else accesses:
        if len(slots) == 1:
            line = index_line(at.source, access, slots[0], at.names[-1])
            if line:
                return SlipLocation(line)
        return SlipLocation(at.source.line_of_index(access))
    handed = at.source.handed_over(array)
    if handed:
        return SlipLocation(handed[-1 if "last" in details else 0].lineno)
    lines = at.trail.load_lines.get(array, ()) or at.trail.store_lines.get(array, ())
    return SlipLocation(lines[0] if lines else None)


def index_line(source: Source, access: ast.Subscript, slot: int, output: str) -> int | None:
    """The line that works out one index of an access, if that is another line.

    An index that also serves to store the output is right there, so it is its use here that is to
    blame.
    """
    slots = indices_of(access)
    if slot >= len(slots):
        return None
    if not isinstance(slots[slot], ast.Name):
        return _fixed_part(source, access, slots[slot])
    name = slots[slot].id  # type: ignore[attr-defined]
    used = {part for store in source.accesses(output, store=True) for part in names_in(store.slice)}
    value = source.value_of(name)
    if name in used or value is None:
        return None
    if not isinstance(value, ast.BinOp):
        return _fixed_part(source, access, slots[slot])
    return source.assignments(name)[0].lineno


def _fixed_part(source: Source, access: ast.Subscript, index: ast.expr) -> int | None:
    """Where a part of an index is set anew in each round of a loop, yet to the same value."""
    around = source.loops_around(access)
    changing = source.loop_variables(access)
    if source.origins(index) & changing:
        return None
    for name in sorted(names_in(index)):
        for statement in source.assignments(name):
            if around and source.loops_around(statement) == around:
                return statement.lineno
    return None


def store_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where the output is written: of several lines, the last that any thread came to."""
    stores = at.source.accesses(at.names[-1], store=True)
    stores = [store for store in stores if store.lineno in at.trail.lines] or stores
    if stores:
        return SlipLocation(stores[-1].lineno)
    lines = at.trail.store_lines.get(at.names[-1], ())
    return SlipLocation(lines[0] if lines else at.source.kernel.lineno)


def call_place(at: Evidence, details: list[str]) -> SlipLocation:
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
            return SlipLocation(at.source.line_of_index(calls[-1]))
    return store_place(at, [])


# --- Lines of a sum: where it starts, grows, is scaled or truncated -------------------------------


INTEGERS = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"}


def sum_place(at: Evidence, details: list[str]) -> SlipLocation:
    additions = at.source.additions()
    if not additions:
        return SlipLocation(None)
    if "nothing" in details and not any(
        addition.lineno in at.trail.lines for addition in additions
    ):
        return never_reached(at.source, additions[0], at.trail)
    for statement in additions:  # each product replaces the sum, or the sum is set anew before it
        if isinstance(statement, ast.AugAssign) and "replaced" in details:
            name = root_name(statement.target)
            around = at.source.loops_around(statement)
            starts = at.source.starts(name) if name else []
            # A sum of several elements is set in loops of its own, within the one that adds.
            shared = [sum(loop in around for loop in at.source.loops_around(e)) for e in starts]
            if max(shared, default=0):
                return SlipLocation(starts[shared.index(max(shared))].lineno)
    return SlipLocation(additions[0].lineno)


def start_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where the sum is set to its first value ("anew": in each turn)."""
    for name in at.source.sums():
        starts = at.source.starts(name)
        if starts:
            deepest = max(starts, key=lambda node: len(at.source.loops_around(node)))
            return SlipLocation((deepest if "anew" in details else starts[0]).lineno)
    return SlipLocation(None)


def integer_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an integer type, or a division that cuts off, comes in."""
    for node in at.source.walk():
        if isinstance(node, ast.Call):
            called = names_in(node.func) if not isinstance(node.func, ast.Call) else set()
            typed = {name for keyword in node.keywords for name in names_in(keyword.value)}
            arguments = {name for argument in node.args for name in names_in(argument)}
            arrays = bool(called & {"array"}) and bool((typed | arguments) & INTEGERS)
            if called & INTEGERS or arrays:
                return SlipLocation(node.lineno)
    for statement in at.source.additions():
        if any(isinstance(part, ast.FloorDiv) for part in ast.walk(statement)):
            return SlipLocation(statement.lineno)
    for node in at.source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            if any(_is_element(part, at.names) for part in ast.walk(node)):
                return SlipLocation(node.lineno)
    return SlipLocation(None)


def _is_element(node: ast.AST, names: Sequence[str]) -> bool:
    """Is it an element of one of the arrays, and no entry of a shape?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in names


def chosen_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = [node for node in at.source.walk() if isinstance(node, (ast.If, ast.IfExp))]
    lines = [node.test.lineno for node in tests if at.source.loops_around(node)]
    return SlipLocation(max(lines)) if lines else store_place(at, [])


def loop_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The first loop; else the store."""
    lines = [node.lineno for node in at.source.walk() if isinstance(node, (ast.For, ast.While))]
    return SlipLocation(min(lines)) if lines else store_place(at, [])


def zero_place(at: Evidence, details: list[str]) -> SlipLocation:
    """Where an element decides by being zero or not: in a test, in `and` and `or`; else its use."""
    arrays = {*at.names[:-1], *at.source.own_arrays()}
    tests = [
        node.test for node in at.source.walk() if isinstance(node, (ast.If, ast.IfExp, ast.While))
    ]
    chosen = [
        value for node in at.source.walk() if isinstance(node, ast.BoolOp) for value in node.values
    ]
    for test in sorted((*tests, *chosen), key=lambda each: each.lineno):
        if {part.id for part in outside(test) if isinstance(part, ast.Name)} & arrays or (
            not at.source.tests_a_size(test) and at.source.everything_behind(test) & arrays
        ):
            return SlipLocation(test.lineno)
    return sum_place(at, []) if at.source.additions() else store_place(at, [])


def never_reached(source: Source, statement: ast.stmt, trail: Trail) -> SlipLocation:
    """What kept every thread from a statement: the outermost loop or test that none went into."""
    within: ast.AST = statement
    blocks = []
    for node in source.ancestors(statement):
        if isinstance(node, (ast.For, ast.While, ast.If)) and within in (*node.body, *node.orelse):
            body = node.body if within in node.body else node.orelse
            blocks.append((node, body[0].lineno))
        within = node
    for block, first in reversed(blocks):
        if first in trail.lines:
            continue
        if isinstance(block, ast.If):
            return SlipLocation(block.test.lineno, hint=TEST.hint)
        return SlipLocation(bound_line(source, block), ITERATIONS.code, ITERATIONS.hint)
    return SlipLocation(statement.lineno)


# --- The table of finders -------------------------------------------------------------------------


# The kinds of places, as slips and entries name them; what else a place says goes to the finder.
FINDERS: dict[str, Callable[[Evidence, list[str]], SlipLocation]] = {
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
    "start of": start_of_place,
    "exponential": exponential_place,
    "largest": largest_place,
    "mask": mask_place,
    "test": test_place,
    "exchange": exchange_place,
    "zero": zero_place,
    "chosen": chosen_place,
    "loop": loop_place,
}


def locate(
    slip: Slip,
    source: Source,
    trail: Trail,
    names: Sequence[str],
    letters: Sequence[str] = "ABC",
) -> SlipLocation:
    """The line to blame for a slip; `names` are the kernel's own for the exercise's letters.

    The letter "A" in a slip's place always stands for the first input.
    """
    kind, *details = slip.place or ("",)
    if kind not in FINDERS:
        return SlipLocation(None)
    translate = {"A": names[0], **dict(zip(letters, names, strict=False))}
    evidence = Evidence(source, trail, names)
    return FINDERS[kind](evidence, [translate.get(detail, detail) for detail in details])
