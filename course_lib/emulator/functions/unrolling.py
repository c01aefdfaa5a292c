"""Loops over `unroll(n)`: to the emulator they are loops over `range(n)`, under stricter rules.

`@unrolled` writes such a loop out before Numba compiles the kernel. What it refuses is refused
here, and so is a loop over `unroll` without it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.language.kernel import Kernel
from course_lib.sentences import Capital, say

UNROLL = "course_lib.intrinsics.unroll"
MOST = 256


def check_unrolled(kernel: Kernel, node: ast.For, own_names: Collection[str]) -> None:
    """Refuse a loop over `unroll` that `@unrolled` cannot write out.

    Args:
        kernel: the function that holds the loop.
        node: the loop.
        own_names: the names that are variables of the function.

    Raises:
        KernelRejected: with `compile-error`.
    """
    assert isinstance(node.iter, ast.Call)
    if not kernel.is_unrolled:
        _refuse(node, "unroll works under @unrolled, which stands between @cuda.jit and def")
    if not _is_constant(node.iter, own_names):
        _refuse(node, "unroll needs a number, or the name of a constant outside the kernel")
    if not isinstance(node.target, ast.Name) or node.orelse:
        _refuse(node, "a loop over unroll has one variable and no else")
    name = node.target.id
    for inner in (each for statement in node.body for each in ast.walk(statement)):
        if isinstance(inner, ast.Break | ast.Continue | ast.Return):
            _refuse(inner, "a loop over unroll can't be left early: use range")
        if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store):
            _refuse(inner, say("{name} counts a loop over unroll: it can't be changed", name=name))


def _is_constant(call: ast.Call, own_names: Collection[str]) -> bool:
    (count,) = call.args
    return isinstance(count, ast.Constant) or (
        isinstance(count, ast.Name) and count.id not in own_names
    )


def _refuse(node: ast.AST, why: str) -> NoReturn:
    raise rejection("compile-error", say("{why}.", why=Capital(why)), node)


def _unroll_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1 and not keywords, "takes one number")
    count = arguments[0].literal
    need(
        isinstance(count, int) and 0 < count <= MOST,
        say("needs a constant from 1 to {most}", most=MOST),
    )
    return Typed(T.TupleType((T.INT64,) * int(count)))  # type: ignore[arg-type]


def _unroll(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[np.int64, ...]:
    """The loop's numbers, as a tuple: a loop over one counts no branches, as there are none."""
    return tuple(np.int64(i) for i in range(int(values[0])))


INTRINSICS[UNROLL] = Intrinsic(_unroll_typing, _unroll)
