"""Which branches Numba leaves out, since it knows their test when it compiles: `if DEBUG:`.

What stands in such a branch is not typed, so nothing in it can be refused. Numba looks at a test
that is a constant, and at a comparison of two; a constant is a literal, a number or a text from
outside, a variable that is given one of those once, `.ndim` of a parameter, arithmetic on these.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.python_operators import COMPARE


class Unknown(Exception):
    """Numba does not know this beforehand."""


class Constants:
    """What is known of a function's values before anything is typed.

    Args:
        kernel: the function.
        own: the names that it gives a value.
        outer: the names of the function around it.
        given: the types of its parameters.
    """

    def __init__(
        self, kernel: Kernel, own: set[str], outer: set[str], given: Mapping[str, T.Type]
    ) -> None:
        self.kernel = kernel
        self.own = own
        self.outer = outer
        self.given = given

    def decided(self, test: ast.expr) -> bool | None:
        """What a test comes to, if Numba leaves the other side out; None if it compiles both."""
        try:
            return self._decided(test)
        except Unknown:
            return None

    def _decided(self, test: ast.expr) -> bool:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._decided(operand)
            case ast.BoolOp(op=op, values=[*operands, last]):
                ends = isinstance(op, ast.Or)
                if any(self._decided(each) == ends for each in operands):
                    return ends
                return self._decided(last)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right)
            case ast.Constant() | ast.Name():
                return bool(self.value(test))
        raise Unknown

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        if isinstance(op, ast.Is | ast.IsNot):
            sides = [self._is_none(each) for each in (left, right)]
            if not any(sides):
                raise Unknown
            return all(sides) == isinstance(op, ast.Is)
        values = self.value(left), self.value(right)
        if type(op) not in COMPARE or None in values:
            raise Unknown
        try:
            return bool(COMPARE[type(op)](*values))
        except TypeError:
            raise Unknown from None

    def _is_none(self, node: ast.expr) -> bool:
        """Whether a value is None; of a parameter Numba knows it only if it is."""
        if isinstance(node, ast.Name) and self._is_given(node.id):
            if self.given[node.id] == T.Static(None):
                return True
            raise Unknown
        return self.value(node) is None

    def value(self, node: ast.expr) -> Any:
        """The constant that an expression stands for.

        Raises:
            Unknown: if Numba does not know it.
        """
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.own and name not in self.kernel.parameters:
                return self.value(self._only_value(name))
            case ast.Attribute(value=ast.Name(id=name), attr="ndim") if self._is_given(name):
                kind = self.given[name]
                if isinstance(kind, T.ArrayType):
                    return kind.ndim
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if self._is_given(
                name
            ):
                kind = self.given[name]
                if isinstance(kind, T.TupleType):
                    return len(kind.items)
            case _ if not self._uses_own(node):
                return self._from_outside(node)
        raise Unknown

    def _is_given(self, name: str) -> bool:
        return name in self.given and name not in self.own

    def _uses_own(self, node: ast.expr) -> bool:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        called = any(isinstance(each, ast.Call) for each in ast.walk(node))
        return called or bool(names & (self.own | self.outer | set(self.kernel.parameters)))

    def _from_outside(self, node: ast.expr) -> Any:
        try:
            value = evaluate_constant(node, self.kernel.namespace)
        except NotConstant:
            raise Unknown from None
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, bool | int | float | complex | str) or value is None:
            return value
        raise Unknown

    def _only_value(self, name: str) -> ast.expr:
        """What is stored in a variable, if that happens at one place and by `=`."""
        nodes = list(ast.walk(self.kernel.tree))
        stores = [
            each
            for each in nodes
            if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        ]
        for each in nodes:
            if isinstance(each, ast.Assign) and len(stores) == 1 and stores[0] in each.targets:
                return each.value
        raise Unknown
