"""Where a function that counts resident blocks has which limit, as its text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from course_lib.emulator import Kernel


class ResidentSource:
    """Finds the line to blame in a function."""

    def __init__(self, function: Kernel) -> None:
        self.tree = function.tree
        self.definition = function.tree.lineno
        asked = ("device", "threads", "registers", "shared_bytes")
        self.own_name = dict(zip(asked, function.parameters, strict=True))
        tests = [each.test for each in ast.walk(self.tree) if isinstance(each, (ast.If, ast.IfExp))]
        self.tested = {node for test in tests for node in ast.walk(test)}

    def line(self, places: Sequence[str], beside: str = "") -> int:
        """The first of these places that the function has; the last return where it has none.

        Rather a line that does not name what is `beside` it elsewhere.
        """
        avoided = {node.lineno for node in self._nodes(beside)} if beside else set()
        for place in places:
            if place == "def":
                return self.definition
            lines = [node.lineno for node in self._nodes(place)]
            if lines:
                return next((line for line in lines if line not in avoided), lines[0])
        return self._last_return()

    def _nodes(self, place: str) -> Iterator[ast.expr]:
        what, _, which = place.rpartition(" ")
        for node in sorted(
            (each for each in ast.walk(self.tree) if isinstance(each, ast.expr)),
            key=lambda each: (each.lineno, each.col_offset),
        ):
            if self._is(node, what, which):
                yield node

    def _is(self, node: ast.expr, what: str, which: str) -> bool:
        if what == "number":
            return isinstance(node, ast.Constant) and repr(node.value) == which
        if which == "division":
            return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        named = (isinstance(node, ast.Attribute) and node.attr == which) or (
            isinstance(node, ast.Name) and node.id == self.own_name.get(which)
        )
        return named and (node in self.tested) == (what == "test")

    def _last_return(self) -> int:
        returns = [each.lineno for each in ast.walk(self.tree) if isinstance(each, ast.Return)]
        return max(returns, default=self.definition)

    def prints(self) -> int | None:
        """The line of a print, if there is one."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == "print":
                    return node.lineno
        return None
