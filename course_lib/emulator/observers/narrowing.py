"""Says which float64 operations the compiler carries out in float32, as the result is the same.

LLVM narrows a single sum, difference, product or quotient of numbers that float32 holds exactly,
where the result is rounded to float32 at once: `y[i] = 0.5 * x[i]` takes no float64 instruction,
`y[i] = 0.1 * x[i]` and `y[i] = 0.5 * x[i] + y[i]` do. (Read from the PTX that Numba makes.)
"""

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
