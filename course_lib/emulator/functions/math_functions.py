"""The functions of `math`, powers, and what a GPU computes in one instruction."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.elementwise import elementwise, unified
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    scalars,
    supported,
)
from course_lib.emulator.language.operators import power, power_type
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.wording.sentences import say


def _math(kinds: list[np.dtype]) -> np.dtype:
    return unified([T.math_type(kind) for kind in kinds])


def _vectorised(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of math that NumPy lacks, applied lane by lane."""

    def each(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(each, otypes=[np.float64])


def _pow_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    base, exponent = scalars(arguments, 2, complex_too=True)
    is_literal = isinstance(arguments[1].literal, int)
    return Typed(power_type(base, T.INT32 if is_literal else exponent))


def _pow(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    dtype = machine.typing.types[node]
    assert isinstance(dtype, np.dtype)
    machine.count_flops(node, dtype, 1)
    return power(machine.convert(values[0], dtype), machine.convert(values[1], dtype))


def _fused_multiply_add(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once: float64 holds the product of two float32 exactly."""
    if a.dtype == T.FLOAT32:
        wide = a.astype(T.FLOAT64) * b.astype(T.FLOAT64) + c.astype(T.FLOAT64)
        return wide.astype(T.FLOAT32)
    return a * b + c


def _selected(kinds: list[np.dtype]) -> np.dtype:
    need(
        kinds[1] == kinds[2],
        say(
            "chooses between numbers of one type, not {first} and {second}",
            first=kinds[1],
            second=kinds[2],
        ),
    )
    return kinds[1]


INTRINSICS["builtins.pow"] = Intrinsic(_pow_typing, _pow)
INTRINSICS["numba.cuda.fma"] = elementwise(_fused_multiply_add, unified, low=3, flops=2)
INTRINSICS["numba.cuda.selp"] = elementwise(
    lambda p, a, b: np.where(p != 0, a, b), _selected, low=3
)

_MATH_ONE: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(np, name)
        for name in """sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh
            tanh asinh acosh atanh fabs floor ceil trunc radians degrees""".split()
    },
    **{name: _vectorised(getattr(math, name)) for name in ("erf", "erfc", "gamma", "lgamma")},
}
_NO_FLOP = {"fabs", "floor", "ceil", "trunc"}
for _name, _function in _MATH_ONE.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_function, _math, flops=0 if _name in _NO_FLOP else 1)


def _remainder(number: Value, divisor: Value) -> Value:
    """What IEEE 754 calls the remainder: from the nearest multiple of `divisor`, or an even one."""
    size = np.abs(divisor)
    rest = np.fmod(np.abs(number), size + size)
    beyond = rest > size - rest  # more than half of it, without a sum that may overflow
    once = np.where(beyond, rest - size, rest)
    twice = np.where(beyond & (once >= size - once), once - size, once)
    return twice * np.copysign(number.dtype.type(1), number)


_MATH_TWO: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(np, name) for name in "pow atan2 fmod hypot copysign nextafter".split()
} | {"remainder": _remainder}
for _name, _of_two in _MATH_TWO.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_of_two, _math, low=2, flops=1)
for _name, _function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_function, lambda kinds: T.BOOL, _math)


def _pair_typing(second: np.dtype | None) -> Callable[[Arguments, Keywords], Typed]:
    """The type of a function of one number that returns two; the second of type `second`."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        kind = T.math_type(scalars(arguments, 1)[0])
        return Typed(T.TupleType((kind, second or kind)))

    return typing


def _pair(function: Callable[[Any], tuple[Any, Any]]) -> Callable[..., tuple[Value, Value]]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
        kinds = machine.typing.types[node]
        assert isinstance(kinds, T.TupleType)
        first, second = function(machine.convert(values[0], kinds.items[0]))
        return machine.convert(first, kinds.items[0]), machine.convert(second, kinds.items[1])

    return run


INTRINSICS["math.frexp"] = Intrinsic(_pair_typing(T.INT32), _pair(np.frexp))
INTRINSICS["math.modf"] = Intrinsic(_pair_typing(None), _pair(np.modf))


def _ldexp_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    number, exponent = scalars(arguments, 2)
    supported(T.is_integer(exponent), "needs an integer exponent", "int(…) cuts off.")
    return Typed(T.math_type(number))


def _ldexp(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    result: Value = np.ldexp(machine.convert(values[0], machine.typing.types[node]), values[1])
    return result


INTRINSICS["math.ldexp"] = Intrinsic(_ldexp_typing, _ldexp)
