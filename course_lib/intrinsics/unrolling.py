"""Loops written out by name: `for k in unroll(16)` in a kernel under `@unrolled`.

A loop costs a comparison and a branch a trip, and hides from the compiler that the addresses of
trip k and k + 1 are neighbours. CUDA C++ has `#pragma unroll`; Numba has nothing of the kind, and
its compiler writes out small loops only, and not several at once. So we do it, in the source:

    @cuda.jit
    @unrolled
    def kernel(A, B, C):
        ...
        for k in unroll(BK):        # BK copies of the body, with 0, 1, 2 … in place of k
            acc += a[k] * b[k]

The number of trips is a literal or a constant from outside the kernel. `k` may not be changed in
the body, nor may the loop be left early. The emulator reads the kernel as it is written, and
takes `unroll(n)` for `range(n)`; the result is the same.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NoReturn

from course_lib.intrinsics.lowering import HOME

MOST = 256  # copies of one body; more only fills the instruction cache


def unroll(count: int) -> range:
    """The trips of a loop that `@unrolled` writes out; elsewhere the same as `range`."""
    return range(count)


def unrolled(function: Callable[..., Any]) -> FunctionType:
    """The same function with its `unroll` loops written out; stands below `@cuda.jit`.

    Raises:
        TypeError: if it stands above `@cuda.jit`.
        SyntaxError: for a loop that can't be written out, with its line.
    """
    if not isinstance(function, FunctionType):
        raise TypeError("@unrolled belongs between @cuda.jit and def: it changes the source")
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    _Writer(function).visit(definition)
    return _compiled(definition, function)


class _Writer(ast.NodeTransformer):
    """Writes out the loops, the innermost first."""

    def __init__(self, function: FunctionType) -> None:
        self.file = function.__code__.co_filename
        closed = inspect.getclosurevars(function)
        self.names = {**closed.builtins, **closed.globals, **closed.nonlocals}

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if not (isinstance(node.iter, ast.Call) and self._is_unroll(node.iter.func)):
            return node
        count = self._count(node.iter)
        if not isinstance(node.target, ast.Name) or node.orelse:
            self._refuse(node, "a loop over unroll has one variable and no else")
        name = node.target.id
        for inner in (part for statement in node.body for part in ast.walk(statement)):
            if isinstance(inner, ast.Break | ast.Continue | ast.Return):
                self._refuse(inner, "a loop over unroll can't be left early, so use range instead")
            if isinstance(inner, ast.Name) and inner.id == name:
                if not isinstance(inner.ctx, ast.Load):
                    self._refuse(inner, f"{name} counts a loop over unroll: it can't be changed")
        copies = []
        for trip in range(count):
            copies += [_with_number(statement, name, trip) for statement in node.body]
        return copies

    def _is_unroll(self, called: ast.expr) -> bool:
        if isinstance(called, ast.Attribute):
            return called.attr == "unroll"
        return isinstance(called, ast.Name) and self.names.get(called.id) is unroll

    def _count(self, call: ast.Call) -> int:
        (trips,) = call.args if len(call.args) == 1 else (None,)
        value = trips.value if isinstance(trips, ast.Constant) else None
        if isinstance(trips, ast.Name):
            value = self.names.get(trips.id)
        if type(value) is not int or not 0 < value <= MOST:
            self._refuse(call, f"unroll needs a literal or a constant from 1 to {MOST}")
        return value

    def _refuse(self, node: Any, why: str) -> NoReturn:
        raise SyntaxError(why, (self.file, node.lineno, node.col_offset + 1, None))


def _with_number(node: ast.AST, name: str, number: int) -> Any:
    """The same tree with a number in place of a name; it shares the parts that don't have it."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Constant(number), node) if node.id == name else node
    changed: dict[str, Any] = {}
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            put: Any = _with_number(value, name, number)
            if put is not value:
                changed[field] = put
        elif isinstance(value, list):
            put = [_with_number(v, name, number) if isinstance(v, ast.AST) else v for v in value]
            if any(new is not old for new, old in zip(put, value, strict=True)):
                changed[field] = put
    if not changed:
        return node
    made = copy.copy(node)
    made.__dict__.update(changed)
    return made


def _compiled(definition: ast.FunctionDef, function: FunctionType) -> FunctionType:
    """A function from a new tree that keeps the old one's lines, globals and outer variables."""
    outer = ast.parse("def outer():\n    pass")
    body = [ast.parse(f"{name} = None").body[0] for name in function.__code__.co_freevars]
    outer.body[0].body = [*body, definition]  # type: ignore[attr-defined]
    module = compile(ast.fix_missing_locations(outer), function.__code__.co_filename, "exec")
    (around,) = _codes_in(module)
    (code,) = _codes_in(around)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__dict__.update(function.__dict__)
    made.written_as = function  # type: ignore[attr-defined]  # what the emulator reads
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    made.__qualname__ = function.__qualname__
    return made


def _codes_in(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


unroll.__module__ = unrolled.__module__ = HOME  # as the emulator knows them
