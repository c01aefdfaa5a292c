"""Races that do no harm, recognised by the text of the lines that race.

Equal values, whichever comes last; a bound that is only a start; a value that a compare-and-swap
checks before it counts. Whatever is not proven here or in marks.py stays an error.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from course_lib.emulator.language.kernel import names_with
from course_lib.emulator.observers.tracing import assignments_at

Trees = tuple[ast.AST, ...]


@lru_cache(maxsize=64)
def is_same_value(lines: tuple[int, int], trees: Trees) -> bool:
    """Whether two lines store one and the same value, which no thread computes.

    It is made of numbers, global names, the kernel's arguments while they are what was passed,
    elements of arrays that the kernel does not write, and variables that are set once, to such a
    value.
    """
    kernel, *functions = trees
    nodes = [node for tree in trees for node in ast.walk(tree)]
    set_at = Counter(names_with(nodes))
    own = set(set_at)
    own |= {n.arg for tree in functions for n in ast.walk(tree) if isinstance(n, ast.arg)}
    stored = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    written = {ast.unparse(node.value) for node in stored}
    own |= written
    once = [node for node in ast.walk(kernel) if isinstance(node, ast.Assign)]
    for node in once:  # in their order
        if isinstance(name := node.targets[0], ast.Name) and set_at[name.id] == 1:
            if _holds_fixed(node, own - (_as_passed(node, kernel) - written)):
                own.discard(name.id)
    values = set()
    for line in lines:
        found = [assignment for tree in trees for assignment in assignments_at(tree, line)]
        if len(found) != 1 or not isinstance(found[0], ast.Assign):
            return False
        if not _holds_fixed(found[0], own - (_as_passed(found[0], kernel) - written)):
            return False
        values.add(ast.unparse(found[0].value))
    return len(values) == 1


def _holds_fixed(assignment: ast.Assign, own: set[str]) -> bool:
    return all(_is_fixed(part, own) for part in ast.walk(assignment.value))


def _as_passed(statement: ast.stmt, kernel: ast.AST) -> set[str]:
    """The kernel's parameters that still have the value passed in: set later, if at all."""
    nodes = [*ast.walk(kernel)]
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    if any(statement in ast.walk(loop) for loop in loops):
        return set()
    names = [node for node in nodes if isinstance(node, ast.Name)]
    before = {n.id for n in names if isinstance(n.ctx, ast.Store) and n.lineno <= statement.lineno}
    return {node.arg for node in nodes if isinstance(node, ast.arg)} - before


def is_start_value(lines: tuple[int, int], trees: Sequence[ast.AST]) -> bool:
    """Whether one line reads what the other updates by `cuda.atomic.min` or `max`, as a start.

    The value is compared with others until the same operation is given what remains; so an older
    one does no harm.
    """
    for load, update in (lines, lines[::-1]):
        for tree in trees:
            match [*assignments_at(tree, load)]:
                case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript())]:
                    if any(_ends_in(tree, name, update, kind) for kind in ("min", "max")):
                        return True
    return False


def _ends_in(tree: ast.AST, name: str, line: int, kind: str) -> bool:
    """Is all that becomes of a variable compared, and then given to `cuda.atomic` in that line?"""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    updates = [c for c in calls if ast.unparse(c.func).endswith(f".atomic.{kind}")]
    given = [c for c in updates if c.lineno == line and ast.unparse(c.args[-1]) == name]
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    extremes = [call for call in calls if ast.unparse(call.func) == kind]
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    targets = [target for assignment in stored for target in assignment.targets]
    harmless = {
        inner for node in (*given, *compared, *extremes, *targets) for inner in ast.walk(node)
    }
    uses = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    return bool(given) and all(use in harmless for use in uses)


def _is_fixed(node: ast.AST, own: set[str]) -> bool:
    """Does this part of an expression say the same in every thread?"""
    if isinstance(node, ast.Name):
        return node.id not in own and node.id != "cuda"
    if isinstance(node, ast.Call):  # of a type, such as float32(0); a function may ask who calls
        kind = getattr(np, ast.unparse(node.func).split(".")[-1], None)
        return isinstance(kind, type) and issubclass(kind, np.generic)
    return not isinstance(node, ast.Subscript) or isinstance(node.value, ast.Name)


# --- A plain read that a compare-and-swap checks --------------------------------------------------


@lru_cache(maxsize=64)
def is_checked(lines: tuple[int, int], trees: Trees) -> bool:
    """Whether one line reads what a compare-and-swap compares again before anything is made of it.

    So begins every loop of `cuda.atomic.cas`: an old value costs a turn of the loop.
    """
    return any(_is_checked_load(line, tree) for line in lines for tree in trees)


def is_waited_for(lines: tuple[int, int], trees: Trees) -> bool:
    """Whether one of two lines waits by an atomic operation until a cell has some value."""
    tests = (
        inner
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.While)
        for inner in ast.walk(node)
        if isinstance(inner, ast.While | ast.If)
    )
    calls = (call for node in tests for call in ast.walk(node.test) if isinstance(call, ast.Call))
    return any(call.lineno in lines and ".atomic." in ast.unparse(call.func) for call in calls)


def _is_checked_load(line: int, tree: ast.AST) -> bool:
    swaps: defaultdict[str, list[ast.Call]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_compare_and_swap(node):
            swaps[ast.unparse(node.args[0]).split("[")[0]].append(node)
    loads = [node for node in _loads(tree) if node.lineno == line]
    loads = [node for node in loads if ast.unparse(node.value) in swaps]
    return bool(loads) and all(
        _is_compared_again(load, swaps[ast.unparse(load.value)], tree) for load in loads
    )


def _is_compare_and_swap(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith((".atomic.cas", ".atomic.compare_and_swap"))


def _is_compared_again(load: ast.Subscript, swaps: Sequence[ast.Call], tree: ast.AST) -> bool:
    expected = {ast.unparse(call.args[-2]) for call in swaps}
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                if load in (left, right):
                    return ast.unparse(right if load is left else left) in expected
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is load:
                return _is_tried(name, swaps, tree)
    return False


def _is_tried(name: str, swaps: Sequence[ast.Call], tree: ast.AST) -> bool:
    """Is a variable's value compared by a swap, and the swap's answer with it, before it counts?"""
    copies, made = {name}, {name}
    for _ in range(len(swaps) + 4):  # through so many assignments in another order than the text's
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            value, target = node.value, node.targets[0].id
            is_swap = any(value is s and ast.unparse(s.args[-2]) in copies for s in swaps)
            if is_swap or (isinstance(value, ast.Name) and value.id in copies):
                copies.add(target)
            if _names_in(value) & made:
                made.add(target)
    tried = [call for call in swaps if ast.unparse(call.args[-2]) in copies]
    if not tried or not any(_compares(node, copies, tried) for node in ast.walk(tree)):
        return False
    first = min(call.lineno for call in tried)
    return not any(_names_in(node) & made for node in _effects(tree, first, made))


def _compares(node: ast.AST, copies: set[str], tried: Sequence[ast.Call]) -> bool:
    """Is this the question whether the swap has found what was expected?"""
    return isinstance(node, ast.Compare) and all(
        part in tried or (isinstance(part, ast.Name) and part.id in copies)
        for part in (node.left, *node.comparators)
    )


def _effects(tree: ast.AST, before: int, made: set[str]) -> Iterator[ast.AST]:
    """Stores to an array and calls before a line; with the branches on `made` around it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While) and _names_in(node.test) & made:
            inner = [part for statement in node.body for part in ast.walk(statement)]
            if any(_has_effect(part) and _line(part) < before for part in inner):
                yield node.test
        if _has_effect(node) and _line(node) < before:
            yield node


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return not all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.AugAssign):
        return not isinstance(node.target, ast.Name)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _loads(tree: ast.AST) -> Iterator[ast.Subscript]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield node
