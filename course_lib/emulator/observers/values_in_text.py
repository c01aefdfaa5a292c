"""What a kernel's text says of its values: from loaded data, from float64, or kept in a register.

It is the same for every launch, so what was found is kept for the next one.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import holds, names_with
from course_lib.emulator.language.typings import Typing

SIZES = (".shape", ".strides")


@lru_cache(maxsize=16)
def decided_by_data(typing: Typing, given: frozenset[str] = frozenset()) -> frozenset[str]:
    """The variables of a function that depend on what was loaded from an array.

    `given` are its parameters that do.
    """
    tree = typing.kernel.tree
    return _all_that(
        lambda names: {*_set_to(tree, names, is_by_data), *_set_by_data(tree, names)}, given
    )


def _all_that(
    further: Callable[[frozenset[str]], set[str]], names: frozenset[str] = frozenset()
) -> frozenset[str]:
    """These names, what follows from them, what follows from that, and so on."""
    while not (found := further(names)) <= names:
        names |= found
    return names


def _set_to(
    tree: ast.AST, names: frozenset[str], depends: Callable[[ast.expr, frozenset[str]], bool]
) -> Iterator[str]:
    """The variables that are set to what depends on these names."""
    for node in ast.walk(tree):
        for value, targets in assigned(node):
            if depends(value, names):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def all_decided_by_data(typings: Sequence[Typing]) -> dict[Typing, frozenset[str]]:
    """The same of a kernel and the functions that it calls, each behind those that call it.

    A part of an array that data chose is given to a function as any other: there its name is among
    them.
    """
    given = dict.fromkeys(typings, frozenset[str]())
    found: dict[Typing, frozenset[str]] = {}
    for typing in typings:
        found[typing] = names = decided_by_data(typing, given[typing])
        for call, target in typing.calls.items():
            if isinstance(target, Typing) and target in given:
                pairs = zip(target.kernel.parameters, call.args, strict=False)
                chosen = {name for name, value in pairs if _is_chosen(value, typing, names)}
                given[target] |= chosen
    return found


def _is_chosen(value: ast.expr, typing: Typing, names: frozenset[str]) -> bool:
    """Do data decide a number, or which part of an array it is?"""
    if isinstance(value, ast.Subscript) and isinstance(typing.types.get(value), T.ArrayType):
        return _is_chosen(value.value, typing, names) or is_by_data(value.slice, names)
    return is_by_data(value, names)


def _set_by_data(tree: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """The variables that data set, such as the bounds of a binary search."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While) and is_by_data(node.test, names):
            for part in (inner for body in (node.body, node.orelse) for inner in body):
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        yield inner.id


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The value and the targets of a statement that sets variables."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield node.value, list(target.elts) if isinstance(target, ast.Tuple) else [target]
    elif isinstance(node, ast.AugAssign | ast.NamedExpr):
        yield node.value, [node.target]
    elif isinstance(node, ast.For):
        yield node.iter, [node.target]


def names_set(tree: ast.AST) -> set[str]:
    """The variables that a part of a text gives a value."""
    return set(names_with(ast.walk(tree)))


def is_by_data(value: ast.expr, by_data: frozenset[str]) -> bool:
    """Does an expression depend on an element of an array?"""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in by_data:
            return True
        if isinstance(node, ast.Subscript) and not ast.unparse(node.value).endswith(SIZES):
            return True
        if isinstance(node, ast.Call) and ".atomic." in ast.unparse(node.func):
            return True
    return False


def leaves_by_data(
    node: ast.If | ast.For | ast.While, typing: Typing, names: frozenset[str]
) -> bool:
    """Do data decide which lanes enter a branch, or when one leaves a loop?

    So does a comparison of fractions: they are worked out, and nobody knows them beforehand.
    """
    tests = [node.iter if isinstance(node, ast.For) else node.test]
    if not isinstance(node, ast.If):
        tests += [
            branch.test
            for branch in ast.walk(node)
            if isinstance(branch, ast.If)
            and any(isinstance(x, ast.Break | ast.Continue | ast.Return) for x in ast.walk(branch))
        ]
    return any(is_by_data(test, names) or _has_fraction(test, typing) for test in tests)


def is_at_edge(node: ast.If | ast.For | ast.While, typing: Typing) -> bool:
    """Do only threads beyond the edge of what there is to do stay away from a branch or a loop?

    Then it is the shape of a block that parts warps, as it has to somewhere.
    """
    if isinstance(node, ast.If):
        return _is_edge(node.test, _places_in_grid(typing))
    branches = [part for part in ast.walk(typing.kernel.tree) if isinstance(part, ast.If)]
    left = [b for b in branches if any(isinstance(part, ast.Return) for part in b.body)]
    return bool(left) and all(_is_edge(b.test, _places_in_grid(typing)) for b in left)


def _is_edge(test: ast.expr, places: frozenset[str]) -> bool:
    """Does it compare a thread's place in the grid with bounds that all threads share?"""
    if isinstance(test, ast.BoolOp):
        return all(_is_edge(part, places) for part in test.values)
    if not isinstance(test, ast.Compare):
        return False
    is_order = all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in test.ops)
    parts = [test.left, *test.comparators]
    place = [part for part in parts if isinstance(part, ast.Name) and part.id in places]
    others = [part for part in parts if part not in place]
    return is_order and len(place) == 1 and not any(_depends(part, places) for part in others)


@lru_cache(maxsize=16)
def _places_in_grid(typing: Typing) -> frozenset[str]:
    """The variables that number the threads of the grid along an axis."""
    found: set[str] = set()
    for node in ast.walk(typing.kernel.tree):
        for value, targets in assigned(node):
            text = ast.unparse(value)
            parts = [op.op for op in ast.walk(value) if isinstance(op, ast.BinOp)]
            is_sum = all(isinstance(op, ast.Add | ast.Mult) for op in parts)
            if is_sum and ("cuda.grid(" in text or "cuda.blockIdx" in text):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def _has_fraction(test: ast.expr, typing: Typing) -> bool:
    kinds = (typing.types.get(node) for node in ast.walk(test))
    return any(isinstance(kind, np.dtype) and kind.kind == "f" for kind in kinds)


def adds_up(typing: Typing) -> bool:
    """Is there a loop that adds up elements of arrays?"""
    return any(True for loop in _loops(typing) for _ in _sums_in(loop))


def each_for_itself(typing: Typing) -> bool:
    """Is there a loop whose turns each store their own elements, and hand on nothing?"""
    return any(map(_turns_are_apart, _loops(typing)))


def _turns_are_apart(loop: ast.For | ast.While) -> bool:
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    elements = [n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Subscript)]
    stored = {ast.unparse(n.value) for n in elements if isinstance(n.ctx, ast.Store)}
    places = [(ast.unparse(n.value), n.slice) for n in elements]
    places = [(array, index) for array, index in places if array in stored]
    at = [{n.id for n in ast.walk(index) if isinstance(n, ast.Name)} for _, index in places]
    own = len({(array, ast.unparse(index)) for array, index in places}) == len(stored) > 0
    return own and all(loop.target.id in names for names in at) and not _hands_on(loop)


def _hands_on(loop: ast.For) -> bool:
    """Does a turn read a variable that an earlier one may have set?"""
    for name in set(names_with(node for part in loop.body for node in ast.walk(part))):
        first = next(part for part in loop.body if _names(part, name))
        is_set = any(
            isinstance(target, ast.Name) and target.id == name and not _names(value, name)
            for value, targets in assigned(first)
            for target in targets
        )
        if not is_set or isinstance(first, ast.AugAssign):
            return True
    return False


def _names(part: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(part))


def same_sums(typing: Typing) -> Iterator[tuple[str, int]]:
    """Arrays whose elements every thread adds up alike, and the lines of these sums."""
    names = _by_thread(typing)
    for loop in _loops(typing):
        if isinstance(loop, ast.While) or _depends(loop.iter, names):
            continue
        for statement in (part for part in loop.body if isinstance(part, ast.AugAssign)):
            for element in _sums_in(statement):
                total = ast.unparse(statement.target)
                begins = [
                    value
                    for node in ast.walk(typing.kernel.tree)
                    for value, targets in assigned(node)
                    if node is not statement and total in map(ast.unparse, targets)
                ]
                others = [n for n in ast.walk(statement.value) if isinstance(n, ast.Name)]
                alike = not any(_depends(value, names - {total}) for value in begins)
                if alike and not any(name.id in names for name in others):
                    yield ast.unparse(element.value), statement.lineno


def _loops(typing: Typing) -> Iterator[ast.For | ast.While]:
    for node in ast.walk(typing.kernel.tree):
        if isinstance(node, ast.For | ast.While):
            yield node


def _sums_in(part: ast.AST) -> Iterator[ast.Subscript]:
    """The elements that are added to variables."""
    for node in ast.walk(part):
        match node:
            case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=value):
                for element in ast.walk(value):
                    if isinstance(element, ast.Subscript):
                        if not ast.unparse(element.value).endswith(SIZES):
                            yield element


def _by_thread(typing: Typing) -> frozenset[str]:
    """The variables that need not have one value in all threads."""
    return _all_that(lambda names: {*_set_to(typing.kernel.tree, names, _depends)})


def _depends(value: ast.expr, names: frozenset[str]) -> bool:
    """Does an expression ask who the thread is, or what an array holds?"""
    if is_by_data(value, names):
        return True
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node).startswith("cuda.")
        for node in ast.walk(value)
    )


@lru_cache(maxsize=16)
def float64_sources(typings: tuple[Typing, ...], lines: frozenset[int]) -> frozenset[int]:
    """Those lines that compute in float64 whatever the other lines do.

    `x = 2.0 * a[i]` is one; `y = x + a[j]` is not: with a float32 x it computes in float32. Nor is
    an index that a thread works out once, as in `n = int(math.ceil(N / 2))`.
    """
    lines = lines.difference(line for typing in typings for line in _indices(typing))
    sources = set()
    every = lines | {line for typing in typings for line in _divided_for(typing, lines)}
    for typing in typings:
        inherited = _inherited(typing, every)
        for node in ast.walk(typing.kernel.tree):
            if getattr(node, "lineno", 0) in every and _makes_float64(node, typing, inherited):
                sources.add(node.lineno)  # type: ignore[attr-defined]
    return frozenset(sources) or lines


def _indices(typing: Typing) -> Iterator[int]:
    """Lines outside of loops that compute whole numbers, or loops that count up to one."""
    tree = typing.kernel.tree
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    repeated = {inner for loop in loops for part in loop.body for inner in ast.walk(part)}
    for node in ast.walk(tree):
        for value, _ in assigned(node):
            kind = typing.types.get(value)
            whole = isinstance(kind, T.RangeType) or T.is_integer(kind) if kind else False
            if whole and node not in repeated:
                yield node.lineno  # type: ignore[attr-defined]


def _divided_for(typing: Typing, lines: frozenset[int]) -> Iterator[int]:
    """Lines that divide integers for an element, or for a variable used in one of these lines."""
    used = {
        node.id
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.Name) and node.lineno in lines
    }
    for node in ast.walk(typing.kernel.tree):
        for value, targets in assigned(node):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            is_kept = any(isinstance(target, ast.Subscript) for target in targets)
            match value:
                case ast.BinOp(left, ast.Div(), right) if typing.types.get(value) == T.FLOAT64:
                    kinds = [typing.types.get(part) for part in (left, right)]
                    if names & used or (is_kept and all(k and T.is_integer(k) for k in kinds)):
                        yield value.lineno


def _inherited(typing: Typing, lines: frozenset[int]) -> set[str]:
    """Variables that are float64 only because a line that computes in float64 sets them."""
    by_line: defaultdict[str, set[int]] = defaultdict(set)
    for node in ast.walk(typing.kernel.tree):
        for _, targets in assigned(node):
            for target in targets:
                if isinstance(target, ast.Name):
                    by_line[target.id].add(target.lineno)
    parameters = set(typing.kernel.parameters)
    return {name for name, at in by_line.items() if at <= lines and name not in parameters}


def _makes_float64(node: ast.AST, typing: Typing, inherited: set[str]) -> bool:
    """Is this an operator or a call that gives float64, and not by such a variable?"""
    if isinstance(node, ast.AugAssign):
        parts: list[ast.expr] = [node.target, node.value]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call):
        parts = node.args
    else:
        return False
    if not isinstance(node, ast.AugAssign) and typing.types.get(node) != T.FLOAT64:
        return False
    double = [part for part in parts if typing.types.get(part) == T.FLOAT64]
    named = [part for part in double if isinstance(part, ast.Name) and part.id in inherited]
    computed = [part for part in double if isinstance(part, ast.BinOp | ast.Call)]
    if isinstance(node, ast.AugAssign):
        return len(double) > len(named) + len(computed)
    return len(double) > len(named) + len(computed) or not double


# --- Loads that a compiler moves out of their loop ------------------------------------------------

Loop = ast.For | ast.While
MOST_TURNS = 16  # of a loop of which NVVM writes out every turn, with those inside it


def is_moved_out(line: int, array: str, typings: Sequence[Typing]) -> bool:
    """Does a compiler move these loads out of their loop, in which nothing changes their elements?

    Nor does it load more than once if all that the loop does to memory is to change this one
    element. Of a loop that is written out turn by turn nothing is left: what counts is the next
    one around it.
    """
    for typing in typings:
        tree, unrolled = typing.kernel.tree, _unrolled(typing)
        loops = [node for node in ast.walk(tree) if isinstance(node, Loop)]
        around = [loop for loop in loops if holds(loop, line)]
        if around:
            left = [loop for loop in around if loop not in unrolled]
            loop = left[-1] if left else around[0]  # the innermost; of written out ones all
            return _keeps_in_a_register(loop, array, _own_arrays(tree), unrolled)
    return False


@lru_cache(maxsize=16)
def _unrolled(typing: Typing) -> frozenset[Loop]:
    """The loops of a function that are written out turn by turn."""
    loops = [node for node in ast.walk(typing.kernel.tree) if isinstance(node, Loop)]
    return frozenset(loop for loop in loops if _turns(loop, typing) <= MOST_TURNS)


def _turns(loop: Loop, typing: Typing) -> float:
    """How many rounds the innermost loops in it make; infinite if unknown."""
    inside = [node for part in loop.body for node in ast.walk(part) if isinstance(node, Loop)]
    within = max((_turns(inner_loop, typing) for inner_loop in inside), default=1)
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=bounds)):
            own = names_set(typing.kernel.tree).union(typing.kernel.parameters)
            named = {n.id for bound in bounds for n in ast.walk(bound) if isinstance(n, ast.Name)}
            if named & own:
                return float("inf")
            try:
                numbers = [evaluate_constant(bound, typing.kernel.namespace) for bound in bounds]
                return len(range(*numbers)) * within
            except (NotConstant, TypeError, ValueError):
                pass
    return float("inf")


def _own_arrays(tree: ast.AST) -> set[str]:
    """The names of shared and local arrays: no store to them changes global memory."""
    made = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return {
        ast.unparse(target)
        for node in made
        if isinstance(node.value, ast.Call)
        if ast.unparse(node.value.func).endswith((".shared.array", ".local.array"))
        for target in node.targets
    }


def _keeps_in_a_register(
    loop: Loop, array: str, own: Collection[str], unrolled: Collection[Loop]
) -> bool:
    parts = [*ast.walk(loop)]
    written_out = {
        unrolled_loop.target for unrolled_loop in unrolled if isinstance(unrolled_loop, ast.For)
    }
    stored = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    stored = [part for part in stored if part not in written_out]
    changed = {part.id for part in stored if isinstance(part, ast.Name)}
    elements = [part for part in parts if isinstance(part, ast.Subscript)]
    elements = [part for part in elements if ast.unparse(part.value) not in own]
    indices = [part.slice for part in elements if ast.unparse(part.value) == array]
    if any(isinstance(part, ast.Call) and _orders_or_updates(part) for part in parts):
        return False
    if any(isinstance(n, ast.Name) and n.id in changed for i in indices for n in ast.walk(i)):
        return False
    if not any(part in elements for part in stored):
        return True
    updates = [
        statement for statement in loop.body if isinstance(statement, ast.AugAssign | ast.Assign)
    ]
    always = {part for statement in updates for part in ast.walk(statement)}
    names = {ast.unparse(part) for part in elements if not ast.unparse(part.value).endswith(SIZES)}
    return len(names) == 1 and all(part in always for part in stored if part in elements)


def _orders_or_updates(call: ast.Call) -> bool:
    """Is it an atomic operation, a barrier or a fence?"""
    name = ast.unparse(call.func)
    return ".atomic." in name or "sync" in name or "threadfence" in name
