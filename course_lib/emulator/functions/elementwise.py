"""Functions of numbers that compute lane by lane, each lane by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    scalars,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value


def elementwise(
    function: Callable[..., Any],
    result: Callable[[list[np.dtype]], np.dtype],
    operands: Callable[[list[np.dtype]], np.dtype] | None = None,
    low: int = 1,
    high: int | None = None,
    flops: int = 0,
    chooses: bool = False,
    complex_too: bool = False,
) -> Intrinsic:
    """A function of numbers: operands are converted to one type, then NumPy computes.

    `chooses`: the result is one of them, so that each may be a limit for the others.
    """

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        return Typed(result(scalars(arguments, low, high, complex_too)))

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        kinds = [value.dtype for value in values]
        common = (operands or result)(kinds)
        machine.count_flops(node, common, flops)
        if chooses:
            nodes = list(node.args)
            if len(nodes) < len(values):  # the items of a tuple
                nodes = getattr(nodes[0], "elts", nodes * len(values))
            for argument, value in zip(nodes[1:], values[1:], strict=True):
                machine.meet_limit("choice", argument, values[0], value)
        computed = function(*(machine.convert(value, common) for value in values))
        given: Value = machine.convert(computed, machine.typing.types[node])
        return given

    return Intrinsic(typing, run)


def unified(kinds: list[np.dtype]) -> np.dtype:
    """The type in which Numba computes with numbers of these types together."""
    result: T.Type = kinds[0]
    for kind in kinds[1:]:
        result = T.unify(result, kind)
    return result  # type: ignore[return-value]
