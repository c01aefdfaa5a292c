"""Functions of numbers, lane by lane: those of `math`, powers, complex numbers and `cmath`."""

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Rule,
    Typed,
    function,
    need,
    scalars,
    supported,
)
from course_lib.emulator.language.operators import power, power_type
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.wording.sentences import say


def elementwise(
    compute: Callable[..., Any],
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
        return machine.as_typed(node, compute(*(machine.convert(v, common) for v in values)))

    return Intrinsic(typing, run)


def unified(kinds: list[np.dtype]) -> np.dtype:
    """The type in which Numba computes with numbers of these types together."""
    result: T.Type = kinds[0]
    for kind in kinds[1:]:
        result = T.unify(result, kind)
    return result  # type: ignore[return-value]


# --- `math`, and what a GPU computes in one instruction ------------------------------------------


def _math(kinds: list[np.dtype]) -> np.dtype:
    return unified([T.math_type(kind) for kind in kinds])


def _vectorised(of_one: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of math that NumPy lacks, applied lane by lane."""

    def at_value(value: float) -> float:
        try:
            return of_one(value)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(at_value, otypes=[np.float64])


def _pow_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    base, exponent = scalars(arguments, 2, complex_too=True)
    is_literal = isinstance(arguments[1].literal, int)
    return Typed(power_type(base, T.INT32 if is_literal else exponent))


@function("builtins.pow", typing=_pow_typing)
def _pow(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    dtype = machine.number_type(node)
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
            "can choose only between numbers of one type, not {first} and {second}",
            first=kinds[1],
            second=kinds[2],
        ),
    )
    return kinds[1]


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
    """IEEE 754's remainder: the distance to the nearest multiple of `divisor`, to the even one of
    two.
    """
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


def _pair_typing(second: np.dtype | None) -> Rule:
    """The type of a function of one number that returns two; the second of type `second`."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        kind = T.math_type(scalars(arguments, 1)[0])
        return Typed(T.TupleType((kind, second or kind)))

    return typing


def _pair(compute: Callable[[Any], tuple[Any, Any]]) -> Callable[..., tuple[Value, Value]]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
        kinds = machine.typing.types[node]
        assert isinstance(kinds, T.TupleType)
        pair: tuple[Value, Value] = machine.convert(
            compute(machine.convert(values[0], kinds.items[0])), kinds
        )
        return pair

    return run


INTRINSICS["math.frexp"] = Intrinsic(_pair_typing(T.INT32), _pair(np.frexp))
INTRINSICS["math.modf"] = Intrinsic(_pair_typing(None), _pair(np.modf))


def _ldexp_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    number, exponent = scalars(arguments, 2)
    supported(T.is_integer(exponent), "needs an integer exponent", "int(…) cuts off the fraction.")
    return Typed(T.math_type(number))


@function("math.ldexp", typing=_ldexp_typing)
def _ldexp(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    return np.ldexp(machine.as_typed(node, values[0]), values[1])


# --- Complex numbers and `cmath` -----------------------------------------------------------------


def _complex_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 2, complex_too=len(arguments) == 1)
    need(T.BOOL not in kinds, "does not take a bool")
    single = all(kind == T.FLOAT32 for kind in kinds)
    return Typed(T.COMPLEX64 if single else T.COMPLEX128)


@function("builtins.complex", typing=_complex_typing)
def _complex(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    if len(values) == 1:
        return machine.as_typed(node, values[0])
    part = T.part_type(machine.number_type(node))
    return from_parts(*(machine.convert(value, part) for value in values))


def from_parts(real: Value, imaginary: Value) -> Value:
    """Complex numbers of two floats of one type. (`real + 1j * imaginary` loses infinities.)"""
    kind = T.COMPLEX64 if real.dtype == T.FLOAT32 else T.COMPLEX128
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imaginary)), kind)
    result.real, result.imag = real, imaginary
    return result[()]


def _complex_of(kinds: list[np.dtype]) -> np.dtype:
    """complex64 for what float32 holds, as Numba chooses it for the functions of cmath."""
    small = kinds[0] in (T.FLOAT32, T.COMPLEX64) or kinds[0].itemsize < 4
    return T.COMPLEX64 if small else T.COMPLEX128


def _only_complex(result: Callable[[np.dtype], np.dtype]) -> Callable[[list[np.dtype]], np.dtype]:
    def of(kinds: list[np.dtype]) -> np.dtype:
        message = say("takes a complex number, not {type}. complex(…) makes one", type=kinds[0])
        need(T.is_complex(kinds[0]), message)
        return result(kinds[0])

    return of


for _name in "acos asin asinh atan atanh cos exp sin sqrt tan".split():
    INTRINSICS[f"cmath.{_name}"] = elementwise(
        getattr(np, _name), _complex_of, flops=1, complex_too=True
    )
for _name in ("acosh", "log10", "tanh"):  # Numba computes them in double precision only
    INTRINSICS[f"cmath.{_name}"] = elementwise(
        getattr(np, _name), _only_complex(lambda kind: T.COMPLEX128), flops=1, complex_too=True
    )
for _name in ("cosh", "sinh"):
    INTRINSICS[f"cmath.{_name}"] = elementwise(
        getattr(np, _name), _only_complex(lambda kind: kind), flops=1, complex_too=True
    )
INTRINSICS["cmath.phase"] = elementwise(
    np.angle, _only_complex(T.part_type), lambda kinds: kinds[0], flops=1, complex_too=True
)
for _name in ("isnan", "isinf", "isfinite"):
    INTRINSICS[f"cmath.{_name}"] = elementwise(
        getattr(np, _name), lambda kinds: T.BOOL, _complex_of, complex_too=True
    )


def _log_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments")
    kinds = scalars(arguments, 1, 2, complex_too=True)
    widest = [_complex_of([kind]) for kind in kinds]
    return Typed(T.COMPLEX128 if T.COMPLEX128 in widest else T.COMPLEX64)


@function("cmath.log", typing=_log_typing)
def _log(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.number_type(node)
    machine.count_flops(node, kind, len(values))
    logarithms = [np.log(machine.convert(value, kind)) for value in values]
    result: Value = logarithms[0] if len(values) == 1 else logarithms[0] / logarithms[1]
    return result


def _polar_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    part = _only_complex(T.part_type)(scalars(arguments, 1, complex_too=True))
    return Typed(T.TupleType((part, part)))


@function("cmath.polar", typing=_polar_typing)
def _polar(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    machine.count_flops(node, values[0].dtype, 2)
    return np.abs(values[0]), np.angle(values[0])[()]


def _rect_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 2)
    need(all(map(T.is_float, kinds)), "takes two floats")
    return Typed(T.COMPLEX64 if kinds == [T.FLOAT32, T.FLOAT32] else T.COMPLEX128)


@function("cmath.rect", typing=_rect_typing)
def _rect(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.number_type(node)
    radius, angle = (machine.convert(value, T.part_type(kind)) for value in values)
    machine.count_flops(node, kind, 4)
    endless, lost = np.isinf(radius), ~np.isfinite(angle)
    # As Numba's own `rect`: a zero stays one, and an angle without a direction is kept or left out.
    real, imag = (
        np.where(endless & (part == 0), part / radius, part * radius)
        for part in (np.cos(angle), np.sin(angle))
    )
    nothing = lost & (radius == 0)
    real = np.where(nothing, np.abs(radius), np.where(lost & endless, radius, real))
    imag = np.where(nothing, 0, np.where(lost & endless, angle, imag))
    return from_parts(*(part.astype(T.part_type(kind))[()] for part in (real, imag)))


# -- what numbers themselves offer -----------------------------------------------------------------


def _conjugate_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kind = scalars(arguments, 1, complex_too=True)[0]
    need(kind != T.BOOL, "does not take a bool")
    return Typed(kind)


CONJUGATE = Intrinsic(_conjugate_typing, lambda machine, node, values: np.conjugate(values[0]))
ITEM = Intrinsic(
    lambda arguments, keywords: Typed(scalars(arguments, 1, complex_too=True)[0]),
    lambda machine, node, values: values[0],
)


def _bit_count_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kind = scalars(arguments, 1)[0]
    need(
        T.is_integer(kind), say("needs an integer, because {kind} has no bits to count", kind=kind)
    )
    return Typed(kind)


def _bit_count(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    unsigned = values[0].view(np.dtype(f"u{values[0].dtype.itemsize}"))
    counted: Value = machine.convert(np.bitwise_count(unsigned), values[0].dtype)
    return counted


# Methods of a number: called with the number itself as the first argument.
NUMBER_METHODS = {
    "conjugate": CONJUGATE,
    "item": ITEM,
    "bit_count": Intrinsic(_bit_count_typing, _bit_count),
}
