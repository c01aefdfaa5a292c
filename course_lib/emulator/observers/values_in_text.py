"""What a kernel's text says of its values: from loaded data, from float64, narrowed to float32.

It says so of every launch, so what was found is kept for the next one."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.intrinsics import Atomic, Cast
from course_lib.emulator.language.typings import Typing

SIZES = (".shape", ".strides")


@lru_cache(maxsize=16)
def decided_by_data(typing: Typing) -> frozenset[str]:
    """The variables of a function that follow from what was loaded from an array."""
    names: frozenset[str] = frozenset()
    while True:
        found = {
            target.id
            for node in ast.walk(typing.kernel.tree)
            for value, targets in assigned(node)
            if is_by_data(value, names)
            for target in targets
            if isinstance(target, ast.Name)
        } | set(_set_by_data(typing.kernel.tree, names))
        if found <= names:
            return names
        names |= found


def _set_by_data(tree: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """The variables that are set where data decide, as the bounds of a binary search are."""
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


def is_by_data(value: ast.expr, by_data: frozenset[str]) -> bool:
    """Does an expression follow from an element of an array?"""
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
    """Do data decide which lanes go into a branch, or when one leaves a loop?

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


def _has_fraction(test: ast.expr, typing: Typing) -> bool:
    kinds = (typing.types.get(node) for node in ast.walk(test))
    return any(isinstance(kind, np.dtype) and kind.kind == "f" for kind in kinds)


def adds_up(typing: Typing) -> bool:
    """Is there a loop that adds up elements of arrays?"""
    return any(True for loop in _loops(typing) for _ in _sums_in(loop))


def same_sums(typing: Typing) -> Iterator[tuple[str, int]]:
    """The arrays of which every thread adds up the same elements, and the lines of these sums."""
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
    names: frozenset[str] = frozenset()
    while True:
        found = {
            inner.id
            for node in ast.walk(typing.kernel.tree)
            for value, targets in assigned(node)
            if _depends(value, names)
            for target in targets
            for inner in ast.walk(target)
            if isinstance(inner, ast.Name)
        }
        if found <= names:
            return names
        names |= found


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
    """Of the lines that compute in float64, those that would do so whatever the others did.

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
    """Lines outside of loops that work out whole numbers; so does a loop that counts up to one."""
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
    """Lines that divide integers for a variable with which one of these lines computes."""
    used = {
        node.id
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.Name) and node.lineno in lines
    }
    for node in ast.walk(typing.kernel.tree):
        for value, targets in assigned(node):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            is_division = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)
            if names & used and is_division and typing.types.get(value) == T.FLOAT64:
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


# --- what LLVM narrows ---------------------------------------------------------------------------


FLOAT32 = np.dtype(np.float32)
HELD = (FLOAT32, np.dtype(np.float16))  # types whose numbers float32 holds exactly
NARROWED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@lru_cache(maxsize=16)
def narrowed_lines(typing: Typing) -> frozenset[int]:
    """The lines of a function of which no float64 operation is left."""
    text = _Text(typing)
    left = {node.lineno for node in text.float64_operations if not text.is_narrowed(node)}
    narrowed = {node.lineno for node in text.float64_operations if text.is_narrowed(node)}
    return frozenset(narrowed - left)


class _Text:
    """A function's text: what is rounded to float32 at once, and what float32 holds."""

    def __init__(self, typing: Typing) -> None:
        self.typing = typing
        self.nodes = list(ast.walk(typing.kernel.tree))
        self.set_to: defaultdict[str, list[ast.expr | None]] = defaultdict(list)
        self.uses: defaultdict[str, set[ast.AST]] = defaultdict(set)
        plain = set()
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                    self.set_to[name].append(value)
                    plain.add(target)
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.uses[node.id].add(node)
            elif isinstance(node, ast.Name) and node not in plain:
                self.set_to[node.id].append(None)  # by a loop, with others, to itself and more
        self.rounded = set(self._rounded_at_once())
        self._follow_variables()

    def _rounded_at_once(self) -> Iterator[ast.AST]:
        """The expressions whose value is stored as float32, or converted to it."""
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Subscript(value=array)], value=value):
                    if self._is_of_float32(array):
                        yield value
                case ast.AugAssign(target=ast.Subscript(value=array)) if self._is_of_float32(array):
                    yield node
                case ast.Call(args=[first, *_] as given):
                    target = self.typing.calls.get(node)
                    is_cast = isinstance(target, Cast) and self.typing.types.get(node) == FLOAT32
                    if is_cast or (isinstance(target, Atomic) and self._is_of_float32(first)):
                        yield given[-1]

    def _follow_variables(self) -> None:
        """The same of values whose variables are used nowhere else, and behind a minus."""
        count = -1
        while count < len(self.rounded):
            count = len(self.rounded)
            for name, uses in self.uses.items():
                values = self.set_to.get(name, [None])
                if uses <= self.rounded and None not in values:
                    self.rounded.update(value for value in values if value is not None)
            for node in self.nodes:
                if isinstance(node, ast.UnaryOp) and node in self.rounded:
                    self.rounded.add(node.operand)

    def _is_of_float32(self, array: ast.expr) -> bool:
        kind = self.typing.types.get(array)
        return isinstance(kind, T.ArrayType) and kind.dtype == FLOAT32

    @property
    def float64_operations(self) -> Iterator[ast.BinOp | ast.AugAssign | ast.Call]:
        """What computes in float64: operators, and calls of functions that are no conversions."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(self.typing.calls.get(node), Cast):
                continue
            if isinstance(node, ast.BinOp | ast.Call):
                if self.typing.types.get(node) == T.FLOAT64 and not self._is_exact_constant(node):
                    yield node
            elif isinstance(node, ast.AugAssign):
                kinds = {self.typing.types.get(part) for part in (node.target, node.value)}
                is_whole = any(kind and T.is_integer(kind) for kind in kinds)
                if T.FLOAT64 in kinds or (is_whole and FLOAT32 in kinds):
                    yield node

    def is_narrowed(self, node: ast.BinOp | ast.AugAssign | ast.Call) -> bool:
        """Is an operation carried out in float32?"""
        if node not in self.rounded or isinstance(node, ast.Call):
            return False
        if not isinstance(node.op, NARROWED):
            return False
        if isinstance(node, ast.AugAssign):
            return self._is_held(node.value)  # the target is an element of float32
        return self._is_held(node.left) and self._is_held(node.right)

    def _is_held(self, value: ast.expr) -> bool:
        """Does float32 hold a value exactly, whatever its type?"""
        kind = self.typing.types.get(value)
        if isinstance(kind, np.dtype) and kind in HELD:
            return True
        if isinstance(value, ast.Call) and isinstance(self.typing.calls.get(value), Cast):
            return len(value.args) == 1 and self._is_held(value.args[0])
        return self._is_exact_constant(value)

    def _is_exact_constant(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Name) and value.id in self.set_to:
            (only, *more) = self.set_to[value.id]
            return not more and only is not None and self._is_exact_constant(only)
        own = self.set_to.keys() | set(self.typing.kernel.parameters)
        if any(isinstance(part, ast.Name) and part.id in own for part in ast.walk(value)):
            return False
        try:
            number = evaluate_constant(value, self.typing.kernel.namespace)
        except NotConstant:
            return False
        if not isinstance(number, bool | int | float | np.number):
            return False
        with np.errstate(over="ignore"):
            return float(np.float32(number)) == number
