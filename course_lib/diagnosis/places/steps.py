"""The line of one step of an algorithm: a product, what it is divided by, an exchange of lanes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain

from course_lib.diagnosis.slip import Evidence
from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line
from course_lib.diagnosis.source.tree import indices_of, names_in, outside, root_name

EXPONENTIALS = {"exp", "exp2", "pow"}
MAXIMA = {"max", "fmax", "maximum"}
Statement = ast.Assign | ast.AugAssign


def named_place(at: Evidence, details: list[str]) -> int | None:
    """The first statement with one of some words in a name; else where K's elements count."""
    for statement in statements_of(at.source):
        if any(word in name.lower() for word in details for name in names_in(statement)):
            return statement.lineno
    products = products_of(at.source, at.names[1])
    score = root_name(target_of(products[0])) if products else None
    for statement in statements_of(at.source):
        scales = any(isinstance(part, ast.Mult | ast.Div) for part in ast.walk(statement))
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
        divides = any(isinstance(part, ast.Div) for part in ast.walk(statement))
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
        for part in at.source.walk()
        if isinstance(part, ast.If) and _orders(part.test) and not at.source.tests_a_size(part.test)
    ]
    compared = {name for part in calls for argument in part.args if (name := root_name(argument))}
    sides = [side for test in tests for part in _compares(test.test) for side in _sides(part)]
    compared |= {name for side in sides if (name := root_name(side))}
    kept = {
        name
        for node in at.source.walk()
        if isinstance(node, ast.Assign) and root_name(node.value) in compared
        if (name := root_name(node.targets[0]))
    }
    if "first" in details:
        starts = [
            statement
            for statement in statements_of(at.source)
            if isinstance(statement, ast.Assign)
            and not names_in(statement.value) & MAXIMA
            and not at.source.makes_array(statement)
            and any(_sets(target, compared | kept) for target in statement.targets)
        ]
        outside_of_loops = [start for start in starts if not at.source.loops_around(start)]
        if starts:
            return _line((outside_of_loops or starts)[:1])
    return _line(calls[:1]) if calls else exponential_place(at, [at.names[1]])


def _sets(target: ast.expr, names: set[str]) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return any(root_name(part) in names for part in parts)


def mask_place(at: Evidence, details: list[str]) -> int | None:
    """The test within a loop that keeps what does not exist out of a sum, or the line of the number
    that it gives; where there is none, where scores are scaled, or else where a weight is made."""
    for node in sorted(tests_of(at.source), key=lambda node: node.test.lineno):
        parts = [*ast.walk(node)]
        moves = any(
            isinstance(part, ast.Subscript) and root_name(part) in at.names for part in parts
        )
        leaves = any(isinstance(part, ast.Return) for part in parts)
        inside = bool(at.source.loops_around(node)) and at.source.tests_a_size(node.test)
        if inside and not moves and not leaves:
            given = node.body[0] if isinstance(node, ast.If) and len(node.body) == 1 else None
            if isinstance(given, ast.Assign) and not node.orelse:
                made = ast.walk(given.value)
                if not any(isinstance(part, ast.Subscript | ast.BinOp) for part in made):
                    return given.lineno
            return node.test.lineno
    scaled = [
        statement for statement in statements_of(at.source) if _scales_numbers(at.source, statement)
    ]
    return _line(scaled[:1]) if scaled else exponential_place(at, [at.names[1]])


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
        tests = [
            (part.test, part.lineno) for part in ast.walk(first) if isinstance(part, ast.IfExp)
        ]
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
        for part in ast.walk(statement.value):
            if isinstance(part, ast.Subscript) and root_name(part) in source.shared_names():
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


def statements_of(source: Source) -> Iterator[Statement]:
    found = [node for node in source.walk() if isinstance(node, Statement)]
    yield from sorted(found, key=lambda node: node.lineno)


def products_of(source: Source, array: str) -> list[Statement]:
    """Where elements of an array are multiplied and added up."""
    elements = elements_of(source, array)
    return [
        statement
        for statement in statements_of(source)
        if names_in(statement.value) & elements
        and any(isinstance(part, ast.Mult | ast.MatMult) for part in ast.walk(statement))
        and (isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.BinOp))
        and root_name(target_of(statement)) not in source.shared_names()
    ]


def elements_of(source: Source, array: str) -> set[str]:
    """The names under which a kernel has elements of an array: its own, tiles, variables."""
    names = {array} | source.staged(array)
    for statement in statements_of(source):
        read = {
            root_name(part) for part in ast.walk(statement.value) if isinstance(part, ast.Subscript)
        }
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            names |= {statement.targets[0].id} if read & names else set()
    return names


def target_of(statement: Statement) -> ast.expr:
    return statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]


def exponentials_of(source: Source) -> list[ast.Call | ast.BinOp]:
    """Calls of an exponential function, and powers whose exponent is no bare number."""
    powers: list[ast.Call | ast.BinOp] = [
        node
        for node in source.walk()
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and not isinstance(node.right, ast.Constant)
    ]
    found = [*_calls(source, EXPONENTIALS), *powers]
    return sorted(found, key=lambda node: node.lineno)


def _takes(source: Source, node: ast.AST, made: set[str | None]) -> bool:
    """Does an expression read an element, or what is made of such variables directly?"""
    if any(isinstance(part, ast.Subscript) for part in ast.walk(node)):
        return True
    values = (source.value_of(name) for name in names_in(node))
    direct = chain([node], (value for value in values if value is not None))
    return any(names_in(expression) & made for expression in direct)


def _divisor_sums(source: Source) -> Sequence[ast.stmt]:
    """The statements that add to what something is divided by, in the deepest loops last."""
    for node in source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            names = [part.id for part in outside(node.right) if isinstance(part, ast.Name)]
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
                if any(isinstance(part, ast.Add) for part in ast.walk(assignment))
            ]
            in_loops = [grow for grow in grows if source.loops_around(grow)]
            if grows:
                return in_loops or grows
    return []


def tests_of(source: Source) -> list[ast.If | ast.IfExp]:
    return [node for node in source.walk() if isinstance(node, ast.If | ast.IfExp)]


def _orders(test: ast.expr) -> bool:
    """Does it ask which of two numbers is the larger one?"""
    orders = [op for part in ast.walk(test) for op in getattr(part, "ops", ())]
    return any(isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE) for op in orders)


def _compares(test: ast.expr) -> list[ast.Compare]:
    return [part for part in ast.walk(test) if isinstance(part, ast.Compare)]


def _sides(compare: ast.Compare) -> list[ast.expr]:
    return [compare.left, *compare.comparators]


def _calls(source: Source, functions: set[str]) -> list[ast.Call]:
    calls = [node for node in source.walk() if isinstance(node, ast.Call)]
    found = [node for node in calls if names_in(node.func) & functions]
    return sorted(found, key=lambda node: node.lineno)


def _line(nodes: Sequence[ast.expr] | Sequence[ast.stmt]) -> int | None:
    return nodes[0].lineno if nodes else None
