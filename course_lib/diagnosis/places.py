"""From what is known to be wrong to its line: where a text does what an idea names.

First the finders of one step of an algorithm (a product, what it is divided by, an exchange of
lanes), then those of loads, stores, calls and sums. `locate` knows the finder for each kind.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line
from course_lib.diagnosis.source.tree import (
    has,
    indices_of,
    names_in,
    nodes_in,
    outside,
    root_name,
    set_by,
    target_of,
)

EXPONENTIALS = {"exp", "exp2", "pow"}
MAXIMA = {"max", "fmax", "maximum"}
Statement = ast.Assign | ast.AugAssign


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


def named_place(at: Evidence, details: list[str]) -> int | None:
    """The first statement with one of some words in a name; else where K's elements count."""
    for statement in statements_of(at.source):
        if any(word in name.lower() for word in details for name in names_in(statement)):
            return statement.lineno
    products = products_of(at.source, at.names[1])
    score = root_name(target_of(products[0])) if products else None
    for statement in statements_of(at.source):
        scales = has(statement, ast.Mult, ast.Div)
        later = bool(products) and statement.lineno > products[0].lineno
        if later and scales and score in names_in(statement):
            return statement.lineno
    return _line(products[:1])


def product_place(at: Evidence, details: list[str]) -> int | None:
    """The last statement that multiplies elements of an array and adds the products up."""
    return _line(products_of(at.source, details[0])[-1:])


def divisor_place(at: Evidence, details: list[str]) -> int | None:
    """Where grows what the result is divided by."""
    grows = _divisor_sums(at.source)
    return _line(grows[-1:]) if grows else product_place(at, [at.names[-2]])


def division_place(at: Evidence, details: list[str]) -> int | None:
    """The division within a loop; else the store."""
    for statement in statements_of(at.source):
        divides = has(statement, ast.Div)
        if divides and at.source.loops_around(statement):
            return statement.lineno
    stores = at.source.accesses(at.names[-1], store=True)
    return _line(stores[-1:])


def exponential_place(at: Evidence, details: list[str]) -> int | None:
    """The last exponential, or the "first"; of an array's products, or the "other" one.

    The other is the factor between an old maximum and a new one. Where there is no such, the line
    that sums products with the last input.
    """
    calls = exponentials_of(at.source)
    if details and details[0] in (*at.names, "other"):
        products = products_of(at.source, at.names[1])
        made = {root_name(target_of(statement)) for statement in products}
        first = products[0].lineno if products else 0
        later = [call for call in calls if call.lineno > first]
        of_scores = [call for call in later if _takes(at.source, call, made)]
        if details[0] == "other":
            calls = [call for call in later if call not in of_scores][:1]
        else:
            calls = (of_scores or later)[:1]
        return _line(calls) if calls else product_place(at, [at.names[-2]])
    chosen = calls[:1] if "first" in details else calls[-1:]
    return _line(chosen) if chosen else _line(at.source.additions()[:1])


def largest_place(at: Evidence, details: list[str]) -> int | None:
    """Where a maximum is found; or "first", where it gets its first value."""
    calls = _calls(at.source, MAXIMA)
    tests = [
        part
        for part in at.source.all(ast.If)
        if _orders(part.test) and not at.source.tests_a_size(part.test)
    ]
    compared = {name for part in calls for argument in part.args if (name := root_name(argument))}
    compares = [part for test in tests for part in nodes_in(test.test, ast.Compare)]
    sides = [side for part in compares for side in (part.left, *part.comparators)]
    compared |= {name for side in sides if (name := root_name(side))}
    kept = {
        name
        for node in at.source.all(ast.Assign)
        if root_name(node.value) in compared
        if (name := root_name(node.targets[0]))
    }
    if "first" in details:
        starts = [
            statement
            for statement in statements_of(at.source)
            if isinstance(statement, ast.Assign)
            and not names_in(statement.value) & MAXIMA
            and not at.source.makes_array(statement)
            and set_by(statement) & (compared | kept)
        ]
        outside_of_loops = [start for start in starts if not at.source.loops_around(start)]
        if starts:
            return _line((outside_of_loops or starts)[:1])
    return _line(calls[:1]) if calls else exponential_place(at, [at.names[1]])


def mask_place(at: Evidence, details: list[str]) -> int | None:
    """The test within a loop that keeps what does not exist out of a sum, or the line of the number
    that it gives; where there is none, where scores are scaled or staged, or else where a weight is
    made."""
    tests = at.source.all(ast.If, ast.IfExp)
    for node in sorted(tests, key=lambda node: node.test.lineno):
        moves = any(root_name(part) in at.names for part in nodes_in(node, ast.Subscript))
        inside = bool(at.source.loops_around(node)) and at.source.tests_a_size(node.test)
        if inside and not moves and not has(node, ast.Return):
            given = node.body[0] if isinstance(node, ast.If) and len(node.body) == 1 else None
            if isinstance(given, ast.Assign) and not node.orelse:
                if not has(given.value, ast.Subscript, ast.BinOp):
                    return given.lineno
            return node.test.lineno
    scaled = [
        statement for statement in statements_of(at.source) if _scales_numbers(at.source, statement)
    ]
    if scaled:
        return _line(scaled[:1])
    weight = exponential_place(at, [at.names[1]])
    weights = [call for call in exponentials_of(at.source) if call.lineno == weight]
    read = {root_name(node) for call in weights for node in ast.walk(call)}
    staged = [name for name in at.source.shared_names() if name in read]
    return min(at.source.store_lines(staged), default=weight)


def _scales_numbers(source: Source, statement: Statement) -> bool:
    """Does it multiply a thread's own numbers, one after another, by a constant?"""
    target = target_of(statement)
    array = root_name(target)
    names = {part.id for part in outside(statement.value) if isinstance(part, ast.Name)} - {array}
    if isinstance(statement, ast.AugAssign):
        op: ast.AST | None = statement.op
    else:
        op = getattr(statement.value, "op", None) if array in names_in(statement.value) else None
    return (
        isinstance(target, ast.Subscript)
        and isinstance(op, ast.Mult | ast.Div)
        and array not in source.shared_names()
        and bool(source.loops_around(statement))
        and not any(map(source.assignments, names))
    )


def test_place(at: Evidence, details: list[str]) -> int | None:
    """The innermost test, of which of two numbers is larger, around products of an array."""
    for statement in products_of(at.source, details[0])[-1:]:
        for test, line in at.source.conditions(statement):
            if _orders(test):
                return line
    return product_place(at, details)


def exchange_place(at: Evidence, details: list[str]) -> int | None:
    """Where threads add what others have, or compare it ("largest"): by a shuffle, or in a tile.

    The loop over the distances: its "start", or else its end; the statement that reads what another
    thread has ("read", or the "last"), or that uses it ("how"); or the "test" around.
    """
    steps = exchanges_of(at.source)
    larger = [statement for statement in steps if names_in(statement) & MAXIMA]
    chosen = (
        larger
        if "largest" in details
        else [statement for statement in steps if statement not in larger]
    )
    if "sum" in details:
        totals = {name for statement in _divisor_sums(at.source) for name in names_in(statement)}
        chosen.sort(key=lambda statement: root_name(target_of(statement)) not in totals)
    if not chosen and "largest" in details:
        return largest_place(at, [])
    if not chosen:
        return _line(at.source.additions()[-1:]) if "sum" not in details else divisor_place(at, [])
    first = chosen[-1] if "last" in details else chosen[0]
    if "how" in details:
        return _line([_use_of(at.source, first)])
    if "test" in details:
        tests = [(chosen.test, chosen.lineno) for chosen in nodes_in(first, ast.IfExp)]
        for test, line in (*tests, *at.source.conditions(first)):
            if _orders(test):
                return line
    loops = at.source.loops_around(first)
    if not loops or {"read", "last"} & {*details}:
        return first.lineno
    line_of = loop_start_line if "start" in details else bound_line
    return line_of(at.source, loops[-1])


def _use_of(source: Source, read: Statement) -> ast.stmt:
    """Where a number that a statement reads is used: there, or where its variable is."""
    target = target_of(read)
    if not isinstance(target, ast.Name) or isinstance(read, ast.AugAssign):
        return read
    later = (statement for statement in statements_of(source) if statement.lineno > read.lineno)
    return next((statement for statement in later if target.id in names_in(statement.value)), read)


def exchanges_of(source: Source) -> list[Statement]:
    """Statements that read what another thread has: a shuffle, or a tile at a distance."""
    found = []
    for statement in statements_of(source):
        reads = any(name.startswith("shfl") for name in names_in(statement.value))
        for part in nodes_in(statement.value, ast.Subscript):
            if root_name(part) in source.shared_names():
                reads = reads or any(
                    _is_a_distance(source, expression) for expression in indices_of(part)
                )
        if reads:
            found.append(statement)
    found.sort(key=lambda node: (-len(source.loops_around(node)), node.lineno))
    return found


def _is_a_distance(source: Source, index: ast.expr) -> bool:
    """Is the index another one minus (or plus) something?"""
    value = source.value_of(index.id) if isinstance(index, ast.Name) else index
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub | ast.Add)


def statements_of(source: Source) -> list[Statement]:
    return source.all(ast.Assign, ast.AugAssign)


def products_of(source: Source, array: str) -> list[Statement]:
    """Where elements of an array are multiplied and added up."""
    elements = elements_of(source, array)
    return [
        statement
        for statement in statements_of(source)
        if names_in(statement.value) & elements
        and has(statement, ast.Mult, ast.MatMult)
        and (isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.BinOp))
        and root_name(target_of(statement)) not in source.shared_names()
    ]


def elements_of(source: Source, array: str) -> set[str]:
    """The names under which a kernel has elements of an array: its own, tiles, variables."""
    names = {array} | source.staged(array)
    for statement in statements_of(source):
        read = {root_name(part) for part in nodes_in(statement.value, ast.Subscript)}
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            names |= {statement.targets[0].id} if read & names else set()
    return names


def exponentials_of(source: Source) -> list[ast.Call | ast.BinOp]:
    """Calls of an exponential function, and powers whose exponent is no bare number."""
    powers = [
        node
        for node in source.all(ast.BinOp)
        if isinstance(node.op, ast.Pow) and not isinstance(node.right, ast.Constant)
    ]
    return sorted([*_calls(source, EXPONENTIALS), *powers], key=lambda node: node.lineno)


def _takes(source: Source, node: ast.AST, made: set[str | None]) -> bool:
    """Does an expression read an element, or what is made of such variables directly?"""
    if has(node, ast.Subscript):
        return True
    values = (source.value_of(name) for name in names_in(node))
    direct = chain([node], (value for value in values if value is not None))
    return any(names_in(expression) & made for expression in direct)


def _divisor_sums(source: Source) -> Sequence[ast.stmt]:
    """The statements that add to what something is divided by, in the deepest loops last."""
    for node in source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            names = [e.id for e in outside(node.right) if isinstance(e, ast.Name)]
            for name in names:
                stores = (source.statement(access) for access in source.accesses(name, store=True))
                names += [
                    store.value.id
                    for store in stores
                    if isinstance(store, ast.Assign) and isinstance(store.value, ast.Name)
                    if store.value.id not in names
                ]
            grows = [
                assignment
                for name in names
                for assignment in source.assignments(name)
                if has(assignment, ast.Add)
            ]
            in_loops = [grow for grow in grows if source.loops_around(grow)]
            if grows:
                return in_loops or grows
    return []


def _orders(test: ast.expr) -> bool:
    """Does it ask which of two numbers is the larger one?"""
    orders = [op for part in ast.walk(test) for op in getattr(part, "ops", ())]
    return any(isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE) for op in orders)


def _calls(source: Source, functions: set[str]) -> list[ast.Call]:
    return [call for call in source.all(ast.Call) if names_in(call.func) & functions]


def _line(nodes: Sequence[ast.expr] | Sequence[ast.stmt]) -> int | None:
    return nodes[0].lineno if nodes else None


# --- Loads, stores and calls ----------------------------------------------------------------------


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
            shared = [sum(loop in around for loop in at.source.loops_around(e)) for e in starts]
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
        if has(statement, ast.FloorDiv):
            return statement.lineno
    for node in at.source.all(ast.BinOp):
        if isinstance(node.op, ast.FloorDiv):
            if any(_is_element(part, at.names) for part in nodes_in(node, ast.Subscript)):
                return node.lineno
    return None


def loop_place(at: Evidence, details: list[str]) -> int | None:
    """The outermost loop around the sums, or else the first; where there is none, the store."""
    around = [loop for sums in at.source.additions() for loop in at.source.loops_around(sums)]
    loops = around or at.source.loops()
    return loops[0].lineno if loops else store_place(at, [])


def _is_element(node: ast.Subscript, names: Sequence[str]) -> bool:
    """Is it an element of one of the arrays, and no entry of a shape?"""
    return getattr(node.value, "id", "") in names


def chosen_place(at: Evidence, details: list[str]) -> int | None:
    """The last test within a loop that chooses a number or who stores one; else the store."""
    tests = at.source.all(ast.If, ast.IfExp)
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
