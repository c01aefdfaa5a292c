"""Races that do no harm, recognised by the text of the lines that race.

Equal values, whichever comes last; a bound that is only a start; a value that a compare-and-swap
checks before it counts; marks that are only set and compared. Whatever is not proven here stays an
error.
"""

import ast
import copy
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import names_with
from course_lib.emulator.language.operators import COMPARE
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


# --- Marks that are only set and compared, as those of a breadth-first search ---------------------
# `if dist[u] == -1: dist[u] = level + 1` beside `if dist[v] == level`: a mark is set to one value,
# and only where a test has found another; so it does not matter to the second test whether it comes
# before the store or after it, and the first may well be passed by several threads.


NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE,
    ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt,
    ast.GtE: ast.LtE, ast.Gt: ast.Lt, ast.LtE: ast.GtE,
}  # fmt: skip
IDEMPOTENT = ("max", "min", "or_", "and_", "exch")  # done twice, these change no more than once
MAX_DEPTH = 6  # of variables that stand for each other's values


@dataclass(frozen=True)
class _Condition:
    """A test that holds: how an element, by its text, compares with a number."""

    element: str
    operator: type[ast.cmpop]
    limit: Any
    test: ast.expr

    def allows(self, value: Any) -> bool:
        """May the element have this value?"""
        return bool(COMPARE[self.operator](value, self.limit))


class CellMarks:
    """The marks that cells of arrays hold in a kernel, which calls no other function.

    `values` is what its global names and its arguments stand for.
    """

    def __init__(self, tree: ast.AST, values: Mapping[str, Any]) -> None:
        self.tree, self.values = tree, values
        nodes = list(ast.walk(tree))
        self.parents = {inner: node for node in nodes for inner in ast.iter_child_nodes(node)}
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self.set_at = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self.once: dict[str, ast.expr] = {}
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self.set_at[name] == 1 and name not in arguments:
                        self.once[name] = value
        self.statements = list(self._under(getattr(tree, "body", []), ()))

    def race(self, stores_at: set[int], loads_at: set[int]) -> bool:
        """Whether all that these lines do to one array is to set and to compare its marks."""
        targets = [
            (target, statement.value, holds)
            for statement, holds in self.statements
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Subscript)
        ]
        stored = {ast.unparse(target.value) for target, *_ in targets if target.lineno in stores_at}
        if len(stored) != 1 or self._is_changed_otherwise(array := stored.pop()):
            return False
        guards, marks = list[_Condition](), set[Any]()
        for target, value, holds in targets:
            if ast.unparse(target.value) == array:
                element = self._text(target)
                of_element = [condition for condition in holds if condition.element == element]
                if not of_element:
                    return False
                guards.append(of_element[-1])
                marks.add(self._number(value, holds))
        if len(marks) != 1 or None in marks:
            return False
        mark = marks.pop()
        loads = [node for node in self._loads(array) if node.lineno in loads_at]
        return {load.lineno for load in loads} == loads_at and all(
            self._reads_the_same(use, guards, mark) for load in loads for use in self._uses(load)
        )

    def _loads(self, array: str) -> Iterator[ast.Subscript]:
        for node in self.parents:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                if ast.unparse(node.value) == array:
                    yield node

    def _is_changed_otherwise(self, array: str) -> bool:
        """Does anything but an assignment change the array, or hand it on?"""
        for node in self.parents:
            if isinstance(node, ast.AugAssign) and ast.unparse(node.target).startswith(f"{array}["):
                return True
            if isinstance(node, ast.Call) and array in map(ast.unparse, node.args):
                if ast.unparse(node.func) != "len":
                    return True
        return False

    def _uses(self, load: ast.Subscript) -> Iterator[ast.expr]:
        """Where the value of an element is used: there, or where its variable is."""
        match self.parents[load]:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.once:
                for node in self.parents:
                    if isinstance(node, ast.Name) and node.id == name:
                        if isinstance(node.ctx, ast.Load):
                            yield node
            case _:
                yield load

    def _reads_the_same(self, use: ast.expr, guards: Sequence[_Condition], mark: Any) -> bool:
        """Does it make no difference whether an element is a mark already, where it is used?"""
        guard = next((guard for guard in guards if use in ast.walk(guard.test)), None)
        if guard is not None:
            return self._may_be_done_twice(use, guard)
        test = self._test_around(use)
        if test is not None:
            compared = [c for c in self._conditions(test, True) if c.element == self._text(use)]
        else:  # its value is used where a test has found which one it is
            statement = next(node for node in self._around(use) if isinstance(node, ast.stmt))
            holds = next((holds for other, holds in self.statements if other is statement), ())
            compared = [c for c in holds if c.element == self._text(use)]
            compared = [c for c in compared if c.operator is ast.Eq]
        return any(
            found.operator in (ast.Eq, ast.NotEq)
            and found.limit != mark
            and not any(guard.allows(found.limit) for guard in guards)
            for found in compared
        )

    def _test_around(self, use: ast.expr) -> ast.expr | None:
        """The comparison that an element is part of, or it itself, if a branch tests it."""
        parent = self.parents[use]
        test = inner = parent if isinstance(parent, ast.Compare) else use
        for node in self._around(test):
            if isinstance(node, ast.If):
                return test if node.test is inner else None
            is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
            if not isinstance(node, ast.expr) or not (is_not or isinstance(node, ast.BoolOp)):
                break
            inner = node
        return None

    def _may_be_done_twice(self, use: ast.expr, guard: _Condition) -> bool:
        """May several threads pass the test that an element is no mark yet, as well as one?"""
        branch = next((node for node in self._around(use) if isinstance(node, ast.stmt)), None)
        if not isinstance(branch, ast.If):
            return False
        inside = set(ast.walk(branch))
        for statement, holds in self.statements:
            passed = [c.operator is guard.operator for c in holds if use in ast.walk(c.test)]
            if statement in inside or passed:
                if not self._has_no_effect(statement, inside):
                    if not any(passed) or not self._is_idempotent(statement, holds, guard):
                        return False
        return True

    def _has_no_effect(self, statement: ast.stmt, inside: set[ast.AST]) -> bool:
        match statement:
            case ast.Pass() | ast.Continue():
                return True
            case ast.Return(value=None):
                return not any(isinstance(n, ast.For | ast.While) for n in self._around(statement))
            case ast.Assign(targets=[ast.Name(id=name)]):
                named = (n for n in self.parents if isinstance(n, ast.Name) and n.id == name)
                return all(node in inside for node in named)
        return False

    def _is_idempotent(
        self, statement: ast.stmt, holds: Sequence[_Condition], guard: _Condition
    ) -> bool:
        """Does a statement do the same for an element, whichever threads come to it?"""
        match statement:
            case ast.Assign(targets=[ast.Subscript(slice=index)], value=value):
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[_, index, value])):
                if name not in IDEMPOTENT:
                    return False
            case _:
                return False
        is_same_place = guard.element.endswith(f"[{self._text(index)}]")
        is_same_place |= self._number(index, ()) is not None
        return is_same_place and self._number(value, holds) is not None

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    # -- what holds where -------------------------------------------------------------------

    def _under(
        self, body: Iterable[ast.stmt], holds: tuple[_Condition, ...]
    ) -> Iterator[tuple[ast.stmt, tuple[_Condition, ...]]]:
        """The statements that have none inside, each with the tests that hold there."""
        for statement in body:
            if isinstance(statement, ast.If):
                yes, no = (
                    tuple(self._conditions(statement.test, is_met)) for is_met in (True, False)
                )
                yield from self._under(statement.body, holds + yes)
                yield from self._under(statement.orelse, holds + no)
                if isinstance(statement.body[-1], ast.Return | ast.Continue | ast.Break):
                    holds += no
            elif isinstance(statement, ast.For | ast.While):
                yield from self._under(statement.body, holds)
            else:
                yield statement, holds

    def _conditions(self, test: ast.expr, is_met: bool) -> Iterator[_Condition]:
        """What a test that is met, or is not, says of elements."""
        match test:
            case ast.BoolOp(op=op, values=parts) if isinstance(op, ast.And) == is_met:
                for part in parts:
                    yield from self._conditions(part, is_met)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._conditions(operand, not is_met)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in NEGATED:
                for one, other, kind in ((left, right, type(op)), (right, left, TURNED[type(op)])):
                    limit = self._number(other, ())
                    if isinstance(self._resolved(one), ast.Subscript) and limit is not None:
                        kind = kind if is_met else NEGATED[kind]
                        yield _Condition(self._text(one), kind, limit, test)
            case ast.Subscript() | ast.Name() if isinstance(self._resolved(test), ast.Subscript):
                kind = ast.NotEq if is_met else ast.Eq
                yield _Condition(self._text(test), kind, 0, test)

    # -- expressions ------------------------------------------------------------------------

    def _resolved(self, node: ast.expr) -> ast.expr:
        """An expression without the variables that are set once: by what these stand for."""
        for _ in range(MAX_DEPTH):
            if not any(isinstance(n, ast.Name) and n.id in self.once for n in ast.walk(node)):
                break
            node = _Replaced(self.once).visit(copy.deepcopy(node))
        return node

    def _text(self, node: ast.expr) -> str:
        return ast.unparse(self._resolved(node))

    def _number(self, node: ast.expr, holds: Sequence[_Condition]) -> Any:
        """The value of an expression that is the same for all threads; or None."""
        known = {c.element: ast.Constant(c.limit) for c in holds if c.operator is ast.Eq}
        whole = _Replaced(known).visit(self._resolved(node))
        if any(isinstance(part, ast.Name) and self.set_at[part.id] for part in ast.walk(whole)):
            return None
        try:
            value = evaluate_constant(whole, self.values)
        except NotConstant:
            return None
        value = value.item() if isinstance(value, np.generic) else value
        return value if isinstance(value, bool | int | float) else None


class _Replaced(ast.NodeTransformer):
    """Puts expressions in the place of the variables and elements that they stand for."""

    def __init__(self, by: Mapping[str, ast.expr]) -> None:
        self.by = by

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.by.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self.by.get(ast.unparse(node)) or self.generic_visit(node)
