"""Where in an attention kernel a step stands: the scores, the mask, the weights, the rescale."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from course_lib.diagnosis.families.sum_lines import sum_place
from course_lib.diagnosis.slip import Evidence, Place
from course_lib.diagnosis.source.nodes import indices_of, loop_names, names_in, outside, root_name
from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line

EXPONENTIALS = {"exp", "exp2", "pow"}
MAXIMA = {"max", "fmax", "maximum"}


def step_line(source: Source, step: str, names: Sequence[str]) -> int | None:
    """The line of one step; `names` are the kernel's own for Q, K, V and O."""
    finders: dict[str, Callable[[Source, Sequence[str]], int | None]] = {
        "scale": scale_line,
        "exp": exponential_line,
        "weigh": weighing_line,
        "mask": mask_line,
        "mask value": mask_value_line,
        "loop": tiles_line,
        "out": weighing_line,
        "total": total_line,
        "factor": factor_line,
        "rescale": rescaling_line,
        "factor use": factor_use_line,
        "equal weights": equal_weights_line,
        "tie": tie_line,
        "size": size_line,
        "sum reduction": sum_reduction_line,
        "total reduction": total_reduction_line,
        "total reduction end": total_reduction_end_line,
        "total shuffle": total_shuffle_line,
        "max": maximum_line,
        "old maximum": old_maximum_line,
        "first maximum": first_maximum_line,
        "first total": first_total_line,
        "first out": first_out_line,
        "reduction": reduction_line,
        "reduction end": reduction_end_line,
        "max shuffle": max_shuffle_line,
        "products": products_line,
        "store": store_line,
        "divide": division_line,
        "keys": score_line,
        "values": weighing_line,
    }
    return finders[step](source, names)


def _statements(source: Source) -> Iterator[ast.Assign | ast.AugAssign]:
    found = [node for node in source.walk() if isinstance(node, (ast.Assign, ast.AugAssign))]
    yield from sorted(found, key=lambda node: node.lineno)


def _elements_of(source: Source, array: str) -> set[str]:
    """The names under which a kernel has elements of an array: its own, tiles, variables."""
    names = {array} | source.staged(array)
    for statement in _statements(source):
        value = statement.value
        for part in ast.walk(value):
            if isinstance(part, ast.Subscript) and root_name(part) in names:
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Name):
                    names.add(target.id)
    return names


def _products(source: Source, array: str) -> list[ast.Assign | ast.AugAssign]:
    """Where elements of an array are multiplied and added up."""
    elements = _elements_of(source, array)
    return [
        statement
        for statement in _statements(source)
        if names_in(statement.value) & elements
        and any(isinstance(part, (ast.Mult, ast.MatMult)) for part in ast.walk(statement))
        and (isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.BinOp))
        and root_name(_target(statement)) not in source.shared_names()
    ]


def _target(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    return statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]


def score_line(source: Source, names: Sequence[str]) -> int | None:
    """Where query and key are multiplied."""
    found = _products(source, names[1]) or _products(source, names[0])
    return found[0].lineno if found else None


def scale_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a score is scaled: what is called so, or a root; else where scores are added up."""
    for statement in _statements(source):
        words = names_in(statement)
        if "sqrt" in words or any("scale" in word.lower() for word in words):
            return statement.lineno
    products = _products(source, names[1])
    if not products:
        return None
    score = root_name(_target(products[0]))
    for statement in _statements(source):
        later = statement.lineno > products[0].lineno
        scales = any(isinstance(part, (ast.Mult, ast.Div)) for part in ast.walk(statement))
        if later and scales and score in names_in(statement):
            return statement.lineno
    return products[0].lineno


def _exponentials(source: Source) -> list[ast.Call | ast.BinOp]:
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
    return [call.lineno for call in _exponentials(source)]


def exponential_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a score becomes a weight: the exponential that is not only about maxima."""
    score = score_line(source, names) or 0
    later = [call for call in _exponentials(source) if call.lineno > score]
    if not later:
        return weighing_line(source, names)
    factor = factor_line(source, names)
    own = [call for call in later if call.lineno != factor] or later
    return own[0].lineno


def weighing_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a weight and a value are multiplied."""
    found = _products(source, names[2])
    return found[-1].lineno if found else None


def total_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the weights are added up: what the output is divided by in the end."""
    for name in _divisors(source):
        grows = [
            each
            for each in source.assignments(name)
            if any(isinstance(part, ast.Add) for part in ast.walk(each))
        ]
        tile = _tiles_loop(source, names)
        of_tiles = [each for each in grows if tile in source.loops_around(each)]
        if grows:  # behind the tiles, the sums of the lanes may be put together
            return (of_tiles or grows)[-1].lineno
    return weighing_line(source, names)


def _divisors(source: Source) -> Iterator[str]:
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
    output = root_name(_target(weighing))
    exponentials = _exponentials(source)
    for statement in _statements(source):
        if root_name(_target(statement)) != output:
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
    for statement in _statements(source):
        if score is not None and statement.lineno == score:
            scored.add(root_name(_target(statement)))
    for call in _exponentials(source):
        exponent = call.right if isinstance(call, ast.BinOp) else (call.args or [call.func])[-1]
        words = names_in(exponent)
        subscripted = any(isinstance(part, ast.Subscript) for part in ast.walk(call))
        if not subscripted and not words & scored:
            return call.lineno
    return weighing_line(source, names)


def old_maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """The exponential that subtracts what a tile finds; else where a score becomes a weight.

    That is the maximum of the tiles before: a name that has a value before the loop over them.
    """
    loop = tiles_line(source, names) or 0
    before = {
        part.id
        for statement in _statements(source)
        if statement.lineno < loop
        for part in ast.walk(_target(statement))
        if isinstance(part, ast.Name)
    }
    for call in _exponentials(source):
        for part in ast.walk(call):
            if not isinstance(part, ast.BinOp) or not isinstance(part.op, ast.Sub):
                continue
            if root_name(part.right) in before:
                return call.lineno
    return exponential_line(source, names)


def maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the running maximum is found."""
    lines = [
        node.lineno
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & MAXIMA
    ]
    return min(lines, default=exponential_line(source, names))


def first_maximum_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the running maximum gets its first value: before the loop over the tiles, if there."""
    loop = tiles_line(source, names) or 0
    compared = _kept_by_a_test(source) | {
        name
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & MAXIMA
        for each in node.args
        if (name := root_name(each))
    }
    kept = {
        name
        for statement in _statements(source)
        if isinstance(statement, ast.Assign) and root_name(statement.value) in compared
        for target in statement.targets
        if (name := root_name(target))
    }
    starts = [
        source.set_by_caller(statement).lineno
        for statement in _statements(source)
        if isinstance(statement, ast.Assign)
        and not source.makes_array(statement)
        and _names_set(statement) & (compared | kept)
        and not names_in(statement.value) & MAXIMA
    ]
    before = [line for line in starts if line < loop]
    lines = before or starts
    return lines[0] if lines else maximum_line(source, names)


def _kept_by_a_test(source: Source) -> set[str]:
    """The variables that get a value if it is larger: `if new > top: top = new`."""
    found = set()
    for test in _tests(source):
        compared = {
            name
            for part in ast.walk(test.test)
            if isinstance(part, ast.Compare) and _orders(part)
            for side in (part.left, *part.comparators)
            if (name := root_name(side))
        }
        within: list[ast.AST | None] = list(test.body) if isinstance(test, ast.If) else []
        if isinstance(test, ast.IfExp):
            within = [source.statement(test)]
        for statement in within:
            if isinstance(statement, ast.Assign):
                target = root_name(statement.targets[0])
                if target in compared and names_in(statement.value) & compared - {target}:
                    found.add(target)
    return found


def _orders(test: ast.Compare) -> bool:
    """Does it ask which of two numbers is the larger one?"""
    return any(isinstance(op, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)) for op in test.ops)


def tie_line(source: Source, names: Sequence[str]) -> int | None:
    """The innermost test that decides whether a weight is added, if it orders numbers."""
    weighing = source.at_line(weighing_line(source, names) or 0)
    for test, line in source.conditions(weighing) if weighing else ():
        if any(isinstance(part, ast.Compare) and _orders(part) for part in ast.walk(test)):
            return line
    return weighing.lineno if weighing else None


def size_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the number of queries is taken for that of the keys: in a variable, or in its use."""
    mask, weighing = _mask(source, names), source.at_line(weighing_line(source, names) or 0)
    loops = source.loops_around(weighing) if weighing else []
    heads = [loop.iter if isinstance(loop, ast.For) else loop.test for loop in loops]
    of_queries = (
        *source.accesses(names[0], store=False),
        *source.accesses(names[3], store=True),
    )
    tests = [test for each in of_queries for test, _ in source.guards(each)]
    used = set().union(*map(names_in, tests), set())
    for test in [mask.test] if mask else heads:
        for name in sorted(names_in(test)):
            value = source.value_of(name)
            if value is not None and names_in(value) & {names[0], names[3]}:
                return test.lineno if name in used else source.assignments(name)[0].lineno
            if name in (names[0], names[3]):
                return test.lineno
    return mask_line(source, names)


def equal_weights_line(source: Source, names: Sequence[str]) -> int | None:
    """Where something is multiplied by a constant that is zero; else where weights are made."""
    for statement in _statements(source):
        for part in ast.walk(statement):
            multiplies = isinstance(part, (ast.BinOp, ast.AugAssign)) and isinstance(
                part.op, ast.Mult
            )
            if multiplies and any(source.constants.get(name) == 0 for name in names_in(part)):
                return statement.lineno
    return exponential_line(source, names)


def sum_reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop in which lanes add up their products by shuffles; else where they are added."""
    totals = set(_divisors(source))
    found = sorted(_shuffled_sums(source), key=lambda each: root_name(_target(each)) in totals)
    return source.loops_around(found[0])[-1].lineno if found else score_line(source, names)


def total_reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the distances begin by which lanes add up their weights; else where these are added."""
    statement = _shuffled_total(source)
    loop = source.loops_around(statement)[-1] if statement else None
    return loop_start_line(source, loop) if loop else total_line(source, names)


def total_reduction_end_line(source: Source, names: Sequence[str]) -> int | None:
    """The end of these distances."""
    statement = _shuffled_total(source)
    loop = source.loops_around(statement)[-1] if statement else None
    return bound_line(source, loop) if loop else total_line(source, names)


def total_shuffle_line(source: Source, names: Sequence[str]) -> int | None:
    """Where lanes add up their weights."""
    statement = _shuffled_total(source)
    return statement.lineno if statement else total_line(source, names)


def _shuffled_total(source: Source) -> ast.Assign | ast.AugAssign | None:
    """Where lanes put together, by shuffles, what the output is divided by.

    A variable that holds the weights of one tile alone is added to that one.
    """
    sums = _shuffled_sums(source)
    totals = set(_divisors(source))
    parts = {
        part for name in totals for each in source.assignments(name) for part in names_in(each)
    }
    for wanted in (totals, parts):
        for statement in sums:
            if root_name(_target(statement)) in wanted:
                return statement
    return None


def _shuffled_sums(source: Source) -> list[ast.Assign | ast.AugAssign]:
    """Where lanes add what a shuffle in a loop brings them."""
    return [
        statement
        for statement in _statements(source)
        if any(name.startswith("shfl") for name in names_in(statement.value))
        and any(isinstance(part, ast.Add) for part in ast.walk(statement))
        and source.loops_around(statement)
        and not names_in(statement.value) & MAXIMA
    ]


def reduction_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the lanes' distances begin by which a maximum is handed on."""
    call = _shuffled_maximum(source)
    loop = source.loops_around(call)[-1] if call else None
    return loop_start_line(source, loop) if loop else maximum_line(source, names)


def reduction_end_line(source: Source, names: Sequence[str]) -> int | None:
    """The end of these distances."""
    call = _shuffled_maximum(source)
    loop = source.loops_around(call)[-1] if call else None
    return bound_line(source, loop) if loop else maximum_line(source, names)


def max_shuffle_line(source: Source, names: Sequence[str]) -> int | None:
    """Where a maximum is handed on."""
    call = _shuffled_maximum(source)
    return call.lineno if call else maximum_line(source, names)


def _shuffled_maximum(source: Source) -> ast.Call | None:
    """Where a lane compares its maximum with that of another one, in a loop."""
    for call in sorted(_calls_of(source, MAXIMA), key=lambda node: node.lineno):
        if any(name.startswith("shfl") for name in names_in(call)) and source.loops_around(call):
            return call
    return None


def _calls_of(source: Source, functions: set[str]) -> list[ast.Call]:
    return [
        node
        for node in source.walk()
        if isinstance(node, ast.Call) and names_in(node.func) & functions
    ]


def first_total_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the sum of the weights is set anew within the loop over the tiles."""
    return _restart_line(source, total_line(source, names), names)


def first_out_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the output is set anew within the loop over the tiles."""
    return _restart_line(source, weighing_line(source, names), names)


def _restart_line(source: Source, growing: int | None, names: Sequence[str]) -> int | None:
    """Where what grows on a line is set to something else; else that line."""
    grows = source.at_line(growing or 0)
    if not isinstance(grows, (ast.Assign, ast.AugAssign)):
        return growing
    name = root_name(_target(grows))
    starts = [each for each in source.starts(name) if source.loops_around(each)] if name else []
    return starts[0].lineno if starts else growing


def _names_set(statement: ast.Assign) -> set[str]:
    return {
        part.id
        for target in statement.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and root_name(target) in (part.id, None)
    }


def products_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the elements of a query."""
    for statement in _products(source, names[1]):
        loops = source.loops_around(statement)
        if loops:
            return loops[-1].lineno
    return score_line(source, names)


def mask_line(source: Source, names: Sequence[str]) -> int | None:
    """The test that keeps keys past the end out, or the loop that ends before them; without
    either, where scores become weights."""
    mask, weighing = _mask(source, names), source.at_line(weighing_line(source, names) or 0)
    loops = source.loops_around(weighing)[::-1] if weighing and not mask else []
    for loop in loops:
        head = loop.iter if isinstance(loop, ast.For) else loop.test
        if source.origins(head) & {"shape", "size", "len"}:
            return loop.lineno
    return mask.test.lineno if mask else exponential_line(source, names)


def mask_value_line(source: Source, names: Sequence[str]) -> int | None:
    """The same, or the line on which that test gives such keys a number."""
    mask = _mask(source, names)
    return _value_line(mask) if mask else exponential_line(source, names)


def _mask(source: Source, names: Sequence[str]) -> ast.If | ast.IfExp | None:
    for node in sorted(_tests(source), key=lambda node: node.test.lineno):
        parts = list(ast.walk(node))
        moves = any(
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and part.value.id in names
            for part in parts
        )
        leaves = any(isinstance(part, ast.Return) for part in parts)
        of_a_tile = bool(source.loops_around(node)) and source.tests_a_size(node.test)
        if of_a_tile and not moves and not leaves:
            return node
    return None


def _value_line(node: ast.If | ast.IfExp) -> int:
    """Of a test that gives keys past the end a number, the line of the number."""
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:
        given = node.body[0]
        if isinstance(given, ast.Assign) and not any(
            isinstance(part, (ast.Subscript, ast.BinOp)) for part in ast.walk(given.value)
        ):
            return given.lineno
    return node.test.lineno


def _tests(source: Source) -> list[ast.If | ast.IfExp]:
    return [node for node in source.walk() if isinstance(node, (ast.If, ast.IfExp))]


def tiles_line(source: Source, names: Sequence[str]) -> int | None:
    """The loop over the tiles of keys."""
    loop = _tiles_loop(source, names)
    accesses = source.accesses(names[1], store=False)[:1]
    return bound_line(source, loop) if loop else accesses[0].lineno if accesses else None


def _tiles_loop(source: Source, names: Sequence[str]) -> ast.For | ast.While | None:
    loops = [source.loops_around(each) for each in source.accesses(names[1], store=False)[:1]]
    return loops[0][0] if loops and loops[0] else None


def store_line(source: Source, names: Sequence[str]) -> int | None:
    """Where the output is stored."""
    stores = source.accesses(names[3], store=True)
    return stores[-1].lineno if stores else None


def division_line(source: Source, names: Sequence[str]) -> int | None:
    """The division within a loop."""
    for statement in _statements(source):
        divides = any(isinstance(part, ast.Div) for part in ast.walk(statement))
        if divides and source.loops_around(statement):
            return statement.lineno
    return store_line(source, names)


def attention_place(at: Evidence, details: list[str]) -> Place:
    """A step between the two products of attention."""
    if details[0] == "loop":
        load = _load_that_stays(at.source, at.names[1])
        if load:
            return Place(load, "wrong-index")
    return Place(step_line(at.source, details[0], at.names))


def _load_that_stays(source: Source, array: str) -> int | None:
    """A load within the loop over tiles whose row is the same in every round of that loop."""
    for access in source.accesses(array, store=False):
        loops = source.loops_around(access)
        if loops and not source.origins(indices_of(access)[0]) & _changing(source, loops[0]):
            return access.lineno
    return None


def _changing(source: Source, loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop sets or changes, its own among them."""
    names = set(loop_names(loop))
    for node in ast.walk(loop):
        if isinstance(node, (ast.Name)) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    inner = {
        name
        for node in ast.walk(loop)
        if isinstance(node, ast.For) and node is not loop
        for name in loop_names(node)
    }
    return names - inner


def exponential_place(at: Evidence, details: list[str]) -> Place:
    """The last exponential, or the "first"; where there is none, the sum."""
    lines = exponential_lines(at.source)
    line = (min if "first" in details else max)(lines, default=None)
    return Place(line) if line else sum_place(at, details)
