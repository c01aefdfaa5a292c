"""Where in an attention kernel scores, weights and output are worked out, scaled and rescaled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from course_lib.diagnosis.source.nodes import names_in, outside, root_name
from course_lib.diagnosis.source.source import Source, bound_line

EXPONENTIALS = {"exp", "exp2", "pow"}


def assignments_of(source: Source) -> Iterator[ast.Assign | ast.AugAssign]:
    found = [node for node in source.walk() if isinstance(node, (ast.Assign, ast.AugAssign))]
    yield from sorted(found, key=lambda node: node.lineno)


def _elements_of(source: Source, array: str) -> set[str]:
    """The names under which a kernel has elements of an array: its own, tiles, variables."""
    names = {array} | source.staged(array)
    for statement in assignments_of(source):
        value = statement.value
        for part in ast.walk(value):
            if isinstance(part, ast.Subscript) and root_name(part) in names:
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Name):
                    names.add(target.id)
    return names


def products_of(source: Source, array: str) -> list[ast.Assign | ast.AugAssign]:
    """Where elements of an array are multiplied and added up."""
    elements = _elements_of(source, array)
    return [
        statement
        for statement in assignments_of(source)
        if names_in(statement.value) & elements
        and any(isinstance(part, (ast.Mult, ast.MatMult)) for part in ast.walk(statement))
        and (isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.BinOp))
        and root_name(target_of(statement)) not in source.shared_names()
    ]


def target_of(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    return statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]


def score_line(source: Source, names: Sequence[str]) -> int | None:
    """Where query and key are multiplied."""
    found = products_of(source, names[1]) or products_of(source, names[0])
    return found[0].lineno if found else None


def scale_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a score is scaled: what is called so, or a root; else where scores are added up."""
    for statement in assignments_of(source):
        words = names_in(statement)
        if "sqrt" in words or any("scale" in word.lower() for word in words):
            return statement.lineno
    products = products_of(source, names[1])
    if not products:
        return None
    score = root_name(target_of(products[0]))
    for statement in assignments_of(source):
        later = statement.lineno > products[0].lineno
        scales = any(isinstance(part, (ast.Mult, ast.Div)) for part in ast.walk(statement))
        if later and scales and score in names_in(statement):
            return statement.lineno
    return products[0].lineno


def exponentials_of(source: Source) -> list[ast.Call | ast.BinOp]:
    """Calls of an exponential function, and powers whose exponent is no bare number."""
    found = [
        node
        for node in source.walk()
        if (isinstance(node, ast.Call) and names_in(node.func) & EXPONENTIALS)
        or (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and not isinstance(node.right, ast.Constant)
        )
    ]
    return sorted(found, key=lambda node: node.lineno)


def exponential_lines(source: Source) -> list[int]:
    """The lines with an exponential."""
    return [call.lineno for call in exponentials_of(source)]


def exponential_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a score becomes a weight: the exponential that is not only about maxima."""
    score = score_line(source, names) or 0
    later = [call for call in exponentials_of(source) if call.lineno > score]
    if not later:
        return weighing_line(source, names)
    factor = factor_line(source, names)
    own = [call for call in later if call.lineno != factor] or later
    return own[0].lineno


def weighing_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a weight and a value are multiplied."""
    found = products_of(source, names[2])
    return found[-1].lineno if found else None


def total_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the weights are added up: what the output is divided by in the end."""
    for name in divisors_of(source):
        grows = [
            each
            for each in source.assignments(name)
            if any(isinstance(part, ast.Add) for part in ast.walk(each))
        ]
        tile = tiles_loop(source, names)
        of_tiles = [each for each in grows if tile in source.loops_around(each)]
        if grows:  # behind the tiles, the sums of the lanes may be put together
            return (of_tiles or grows)[-1].lineno
    return weighing_line(source, names)


def divisors_of(source: Source) -> Iterator[str]:
    """The variables that something is divided by, and those that are put into such an array."""
    for node in source.walk():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            for name in sorted(
                part.id for part in outside(node.right) if isinstance(part, ast.Name)
            ):
                yield name
                for store in source.accesses(name, store=True):
                    statement = source.statement(store)
                    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
                        yield statement.value.id


def _rescaling(source: Source, names: Sequence[str]) -> tuple[int, int] | None:
    """Where the output is multiplied by an exponential, and where that one is worked out."""
    weighing = source.at_line(weighing_line(source, names) or 0)
    if not isinstance(weighing, (ast.Assign, ast.AugAssign)):
        return None
    output = root_name(target_of(weighing))
    exponentials = exponentials_of(source)
    for statement in assignments_of(source):
        if root_name(target_of(statement)) != output:
            continue
        for factor in _factors(statement, output):
            waiting: list[ast.AST] = [factor]
            for name in sorted(names_in(factor)):
                waiting += source.assignments(name)
                stores = source.accesses(name, store=True)
                waiting += [each for store in stores if (each := source.statement(store))]
            for node in waiting:
                parts = list(ast.walk(node))
                found = [call.lineno for call in exponentials if call in parts]
                if found:
                    return statement.lineno, found[0]
    return None


def _factors(statement: ast.Assign | ast.AugAssign, name: str | None) -> Iterator[ast.expr]:
    """What a statement multiplies a variable by, to give it its next value."""
    if isinstance(statement, ast.AugAssign):
        if isinstance(statement.op, ast.Mult):
            yield statement.value
        return
    for part in ast.walk(statement.value):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
            if root_name(part.left) == name:
                yield part.right
            elif root_name(part.right) == name:
                yield part.left


def rescaling_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the factor is worked out by which the output shrinks; without one, where it grows."""
    found = _rescaling(source, names)
    return found[1] if found else weighing_line(source, names)


def factor_use_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the output is multiplied by that factor."""
    found = _rescaling(source, names)
    return found[0] if found else weighing_line(source, names)


def factor_line(source: Source, names: Sequence[str]) -> int | None:
    """Where an old maximum is compared with a new one: an exponential of neither score nor tile."""
    rescaling = _rescaling(source, names)
    if rescaling:
        return rescaling[1]
    score = score_line(source, names)
    scored = set()
    for statement in assignments_of(source):
        if score is not None and statement.lineno == score:
            scored.add(root_name(target_of(statement)))
    for call in exponentials_of(source):
        exponent = call.right if isinstance(call, ast.BinOp) else (call.args or [call.func])[-1]
        words = names_in(exponent)
        subscripted = any(isinstance(part, ast.Subscript) for part in ast.walk(call))
        if not subscripted and not words & scored:
            return call.lineno
    return weighing_line(source, names)


def equal_weights_line(source: Source, names: Sequence[str]) -> int | None:
    """Where something is multiplied by a constant that is zero; else where weights are made."""
    for statement in assignments_of(source):
        for part in ast.walk(statement):
            multiplies = isinstance(part, (ast.BinOp, ast.AugAssign)) and isinstance(
                part.op, ast.Mult
            )
            if multiplies and any(source.constants.get(name) == 0 for name in names_in(part)):
                return statement.lineno
    return exponential_line(source, names)


def first_total_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the sum of the weights is set anew within the loop over the tiles."""
    return _restart_line(source, total_line(source, names))


def first_out_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the output is set anew within the loop over the tiles."""
    return _restart_line(source, weighing_line(source, names))


def _restart_line(source: Source, growing: int | None) -> int | None:
    """Where what grows on a line is set to something else; else that line."""
    grows = source.at_line(growing or 0)
    if not isinstance(grows, (ast.Assign, ast.AugAssign)):
        return growing
    name = root_name(target_of(grows))
    starts = [each for each in source.starts(name) if source.loops_around(each)] if name else []
    return starts[0].lineno if starts else growing


def products_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the elements of a query."""
    for statement in products_of(source, names[1]):
        loops = source.loops_around(statement)
        if loops:
            return loops[-1].lineno
    return score_line(source, names)


def tiles_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the tiles of keys."""
    loop = tiles_loop(source, names)
    accesses = source.accesses(names[1], store=False)[:1]
    return bound_line(source, loop) if loop else accesses[0].lineno if accesses else None


def tiles_loop(source: Source, names: Sequence[str]) -> ast.For | ast.While | None:
    loops = [source.loops_around(each) for each in source.accesses(names[1], store=False)[:1]]
    return loops[0][0] if loops and loops[0] else None


def store_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the output is stored."""
    stores = source.accesses(names[3], store=True)
    return stores[-1].lineno if stores else None


def division_line(source: Source, names: Sequence[str]) -> int | None:
    """The division within a loop."""
    for statement in assignments_of(source):
        divides = any(isinstance(part, ast.Div) for part in ast.walk(statement))
        if divides and source.loops_around(statement):
            return statement.lineno
    return store_line(source, names)
