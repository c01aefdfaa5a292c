"""From what is known to be wrong to its line: where a text does what an idea names.

A place is data: a kind, and what that asks for. `locate` knows the finder for each kind. Most of
them choose among the statements that have some properties, each of which one word names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.source.source import Source, bound_line
from course_lib.diagnosis.source.tree import (
    has,
    indices_of,
    names_in,
    nodes_in,
    outside,
    root_name,
    target_of,
)

Statement = ast.Assign | ast.AugAssign
OPERATORS = {"+": (ast.Add,), "*": (ast.Mult, ast.MatMult), "/": (ast.Div,)}
FUNCTIONS = {"exponential": {"exp", "exp2", "pow"}, "largest": {"max", "fmax", "maximum"}}
INTEGERS = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp"}


@dataclass(frozen=True)
class Evidence:
    """What the line of a place is looked for in.

    Attributes:
        source: the answer.
        trail: what it did in the launch that shows it.
        names: the kernel's own for the arrays, the output last.
    """

    source: Source
    trail: Trail
    names: Sequence[str]

    def statements(self, *words: str) -> list[Statement]:
        """The assignments that have all of some properties, in the order of their lines."""
        made = self.source.all(ast.Assign, ast.AugAssign)
        return [one for one in made if all(self._has(one, word) for word in words)]

    def _has(self, statement: Statement, word: str) -> bool:
        """An operator, a function of a kind, "loop" (around), "sum" (kept in no tile), "exchange"
        (of what threads have), or elements of an array."""
        source, names = self.source, names_in(statement.value)
        if word in OPERATORS:
            return has(statement, *OPERATORS[word])
        if word in FUNCTIONS:
            powers = [part for part in nodes_in(statement, ast.BinOp) if has(part.op, ast.Pow)]
            raised = any(not isinstance(power.right, ast.Constant) for power in powers)
            return bool(names & FUNCTIONS[word]) or (word == "exponential" and raised)
        if word == "loop":
            return bool(source.loops_around(statement))
        if word == "sum":
            grows = isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.BinOp)
            return grows and root_name(target_of(statement)) not in source.shared_names()
        if word == "exchange":
            read = nodes_in(statement.value, ast.Subscript)
            cells = [part for part in read if root_name(part) in source.shared_names()]
            indices = [index for cell in cells for index in indices_of(cell)]
            apart = any(_is_a_distance(source, index) for index in indices)
            return apart or any(name.startswith("shfl") for name in names)
        return bool(names & elements_of(source, word))


def elements_of(source: Source, array: str) -> set[str]:
    """The names under which a kernel has elements of an array: its own, tiles, variables."""
    names = {array} | source.staged(array)
    for statement in source.all(ast.Assign):
        read = {root_name(part) for part in nodes_in(statement.value, ast.Subscript)}
        if isinstance(statement.targets[0], ast.Name):
            names |= {statement.targets[0].id} if read & names else set()
    return names


def _is_a_distance(source: Source, index: ast.expr) -> bool:
    """Is the index another one minus (or plus) something?"""
    value = source.value_of(index.id) if isinstance(index, ast.Name) else index
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub | ast.Add)


def _first(nodes: Sequence[ast.expr] | Sequence[ast.stmt]) -> int | None:
    return nodes[0].lineno if nodes else None


def _last(nodes: Sequence[ast.expr] | Sequence[ast.stmt]) -> int | None:
    return nodes[-1].lineno if nodes else None


# --- The steps of an algorithm --------------------------------------------------------------------


def named_place(at: Evidence, details: list[str]) -> int | None:
    """The first statement with one of some words in a name; else where K's elements count."""
    named = [
        statement
        for statement in at.statements()
        if any(word in name.lower() for word in details for name in names_in(statement))
    ]
    return _first(named) or product_place(at, [at.names[1]])


def product_place(at: Evidence, details: list[str]) -> int | None:
    """The last statement that multiplies elements of an array and adds the products up."""
    return _last(at.statements("sum", "*", details[0]))


def divisor_place(at: Evidence, details: list[str]) -> int | None:
    """Where grows what the result is divided by, or what that is made of; in a loop, if it does so
    in one."""
    divisors = [node.right for node in at.source.all(ast.BinOp) if isinstance(node.op, ast.Div)]
    names = {name for node in divisors for part in outside(node) if (name := root_name(part))}
    behind = [one for one in at.statements() if root_name(target_of(one)) in names]
    for wanted in (names, names.union(*(names_in(one.value) for one in behind))):
        for words in (("+", "loop"), ("+",)):
            grows = [one for one in at.statements(*words) if root_name(target_of(one)) in wanted]
            if grows:
                return _last(grows)
    return product_place(at, [at.names[-2]])


def division_place(at: Evidence, details: list[str]) -> int | None:
    """The division within a loop; else the store."""
    return _first(at.statements("/", "loop")) or store_place(at, [])


def exponential_place(at: Evidence, details: list[str]) -> int | None:
    """The last exponential, or the "first"; of an array's products, or the "other" one, which is
    the factor between an old maximum and a new one."""
    found = at.statements("exponential")
    if details and "first" not in details:
        weights = [one for one in found if _is_of_a_product(at, one)]
        if "other" in details:
            found = [one for one in found if one not in weights]
            return _first(found) or product_place(at, [at.names[-2]])
        return _first(weights or found)
    return (_first if details else _last)(found) or sum_place(at, [])


def _is_of_a_product(at: Evidence, statement: Statement) -> bool:
    """Does it read an element, or a sum of the second input's products, directly or by a name?"""
    made = {root_name(target_of(one)) for one in at.statements("sum", "*", at.names[1])}
    values = [at.source.value_of(name) for name in names_in(statement.value)]
    read = set().union(*(names_in(value) for value in (statement.value, *values) if value))
    return has(statement.value, ast.Subscript) or bool(read & made)


def largest_place(at: Evidence, details: list[str]) -> int | None:
    """Where a maximum is found."""
    return _first(at.statements("largest")) or exponential_place(at, [])


def mask_place(at: Evidence, details: list[str]) -> int | None:
    """Where the last array is set that a maximum or an exponential reads; else the last variable of
    the exponentials, before any of both."""
    exponentials = at.statements("exponential")
    uses = [*at.statements("largest"), *exponentials]
    read = {root_name(part) for use in uses for part in nodes_in(use.value, ast.Subscript)}
    made = [one for one in at.statements("loop") if one not in uses]
    cells = [one for one in made if root_name(target_of(one)) in read]
    names = set().union(*(names_in(use.value) for use in exponentials))
    first = min((use.lineno for use in uses), default=0)
    known = [one for one in made if one.lineno < first and root_name(target_of(one)) in names]
    return _last(cells) or _last(known) or exponential_place(at, [])


def exchange_place(at: Evidence, details: list[str]) -> int | None:
    """Where threads add what others have, or compare it ("largest"), by a shuffle or in a tile: the
    innermost loop over the distances, or its "start", or the statement that reads ("read", or the
    "last")."""
    words = {"largest"} & {*details}
    chosen = at.statements("exchange", *words)
    if not words:
        chosen = [one for one in chosen if one not in at.statements("largest")]
    if not chosen:
        return largest_place(at, []) if words else divisor_place(at, [])
    read = chosen[-1] if "last" in details else chosen[0]
    loops = at.source.loops_around(read)
    if not loops or {"read", "last"} & {*details}:
        return read.lineno
    before = [
        made.lineno
        for made in at.statements()
        if made.lineno < loops[-1].lineno
        if root_name(target_of(made)) in at.source.steps_of(loops[-1])
    ]
    starts = before if "start" in details and isinstance(loops[-1], ast.While) else []
    return starts[-1] if starts else bound_line(at.source, loops[-1])


# --- Loads, stores, calls, sums and loops ---------------------------------------------------------


def load_place(at: Evidence, details: list[str]) -> int | None:
    """Where an operand is read, or handed to a function that reads it."""
    accesses = at.source.accesses(details[0], store=False) or at.source.handed_over(details[0])
    return _last(accesses) if "last" in details else _first(accesses)


def store_place(at: Evidence, details: list[str]) -> int | None:
    """Where the output is written: of several lines, the last that any thread came to."""
    lines = at.trail.store_lines.get(at.names[-1])
    return lines[-1] if lines else at.source.kernel.lineno


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


def sum_place(at: Evidence, details: list[str]) -> int | None:
    """Where the sum is made."""
    return _first(at.source.additions())


def integer_place(at: Evidence, details: list[str]) -> int | None:
    """Where an integer type, or a division that cuts off, comes in."""
    for node in at.source.walk():
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call):
            called = names_in(node.func)
            if INTEGERS & (names_in(node) if "array" in called else called):
                return node.lineno
    for node in at.source.all(ast.BinOp):
        elements = {getattr(part.value, "id", "") for part in nodes_in(node, ast.Subscript)}
        if isinstance(node.op, ast.FloorDiv) and elements & {*at.names}:
            return node.lineno
    return None


def loop_place(at: Evidence, details: list[str]) -> int | None:
    """The outermost loop around the sums, or else the first; where there is none, the store."""
    around = [loop for sums in at.source.additions() for loop in at.source.loops_around(sums)]
    return _first(around or at.source.loops()) or store_place(at, [])


def chosen_place(at: Evidence, details: list[str]) -> int | None:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = at.source.all(ast.If, ast.IfExp)
    lines = [node.test.lineno for node in tests if at.source.loops_around(node)]
    return max(lines) if lines else store_place(at, [])


# The kinds of places, as slips and entries name them; what else a place says goes to the finder.
FINDERS: dict[str, Callable[[Evidence, list[str]], int | None]] = {
    "load": load_place,
    "store": store_place,
    "call": call_place,
    "sum": sum_place,
    "integer": integer_place,
    "named": named_place,
    "product": product_place,
    "divisor": divisor_place,
    "division": division_place,
    "exponential": exponential_place,
    "largest": largest_place,
    "mask": mask_place,
    "exchange": exchange_place,
    "chosen": chosen_place,
    "loop": loop_place,
}


def locate(
    place: Sequence[str],
    source: Source,
    trail: Trail,
    names: Sequence[str],
    letters: Sequence[str] = "ABC",
) -> int | None:
    """The line of a place: a kind ("load", "store", "sum"), and what that asks for, as the array.

    `names` are the kernel's own for the exercise's letters; "A" is always the first input.
    """
    kind, *details = place or ("",)
    if kind not in FINDERS:
        return None
    translate = {"A": names[0], **dict(zip(letters, names, strict=False))}
    evidence = Evidence(source, trail, names)
    return FINDERS[kind](evidence, [translate.get(detail, detail) for detail in details])
