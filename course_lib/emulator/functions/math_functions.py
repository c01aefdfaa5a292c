"""The functions of `math`, powers, and what a GPU computes in one instruction."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    elementwise,
    need,
    scalars,
    supported,
    unified,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.language.operators import power, power_type
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


def _pow(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
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
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "fabs": np.fabs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "radians": np.radians,
    "degrees": np.degrees,
    "erf": _vectorised(math.erf),
    "erfc": _vectorised(math.erfc),
    "gamma": _vectorised(math.gamma),
    "lgamma": _vectorised(math.lgamma),
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
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "remainder": _remainder,
}
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
    def run(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
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


def _ldexp(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    result: Value = np.ldexp(machine.convert(values[0], machine.typing.types[node]), values[1])
    return result


INTRINSICS["math.ldexp"] = Intrinsic(_ldexp_typing, _ldexp)


# --- NVIDIA's libdevice, as far as its functions are known ones under other names -----------------
# Each takes numbers of fixed types, into which Numba converts the arguments: `sinf` float32, `sin`
# float64. NumPy's last digits differ from those of a GPU, whose fast functions round more
# coarsely.


_PATH = "numba.cuda.libdevice."


def _same(
    compute: Callable[..., Any], takes: Sequence[np.dtype], gives: np.dtype, flops: int = 0
) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        scalars(arguments, len(takes))
        return Typed(gives)

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        machine.count_flops(node, gives, flops)
        given = [machine.convert(value, kind) for value, kind in zip(values, takes, strict=True)]
        result: Value = machine.convert(compute(*given), gives)
        return result

    return Intrinsic(typing, run)


def _nearest(number: Value) -> Value:
    """Rounded, halves away from zero, as C's `round` does."""
    return np.trunc(number + np.copysign(number.dtype.type(0.5), number))


def _saturated(number: Value) -> Value:
    return np.where(np.isnan(number), number.dtype.type(0), np.clip(number, 0, 1))


_ONE: dict[str, Callable[[Any], Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos,
    "cosh": np.cosh, "cospi": lambda x: np.cos(np.pi * np.remainder(x, 2)), "exp": np.exp,
    "exp10": lambda x: np.power(x.dtype.type(10), x), "exp2": np.exp2, "expm1": np.expm1,
    "fabs": np.fabs, "floor": np.floor, "log": np.log, "log10": np.log10, "log1p": np.log1p,
    "log2": np.log2, "nearbyint": np.rint, "rcbrt": lambda x: 1 / np.cbrt(x), "rint": np.rint,
    "round": _nearest, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "sinh": np.sinh,
    "sinpi": lambda x: np.sin(np.pi * np.remainder(x, 2)), "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "trunc": np.trunc,
}  # fmt: skip
_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "atan2": np.arctan2, "copysign": np.copysign,
    "fdim": lambda x, y: np.where(x > y, x - y, x.dtype.type(0)), "fmax": np.fmax, "fmin": np.fmin,
    "fmod": np.fmod, "hypot": np.hypot, "nextafter": np.nextafter, "pow": np.power,
}  # fmt: skip
_NO_FLOPS = set("ceil copysign fabs floor fmax fmin nearbyint nextafter rint round trunc".split())
_ROUNDED: dict[str, Callable[..., Any]] = {  # to the nearest: the other roundings are not here
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "sqrt": np.sqrt, "rcp": np.reciprocal,
}  # fmt: skip

for _suffix, _letter, _kind in (("", "d", T.FLOAT64), ("f", "f", T.FLOAT32)):
    for _libdevice_name, _compute in _ONE.items():
        _made = _same(_compute, [_kind], _kind, int(_libdevice_name not in _NO_FLOPS))
        INTRINSICS[f"{_PATH}{_libdevice_name}{_suffix}"] = _made
    for _libdevice_name, _same_of_two in _TWO.items():
        _made = _same(_same_of_two, [_kind] * 2, _kind, int(_libdevice_name not in _NO_FLOPS))
        INTRINSICS[f"{_PATH}{_libdevice_name}{_suffix}"] = _made
    for _libdevice_name, _compute in _ROUNDED.items():
        _count = 1 if _libdevice_name in ("sqrt", "rcp") else 2
        if (_letter, _libdevice_name) != ("d", "sub"):  # libdevice has none
            _made = _same(_compute, [_kind] * _count, _kind, 1)
            INTRINSICS[f"{_PATH}{_letter}{_libdevice_name}_rn"] = _made
    INTRINSICS[f"{_PATH}powi{_suffix}"] = _same(power, [_kind, T.INT32], _kind, 1)
    INTRINSICS[f"{_PATH}ldexp{_suffix}"] = _same(np.ldexp, [_kind, T.INT32], _kind)
for _libdevice_name in "cosf expf exp10f log10f log2f logf sinf tanf".split():
    INTRINSICS[f"{_PATH}fast_{_libdevice_name}"] = INTRINSICS[_PATH + _libdevice_name]
INTRINSICS[f"{_PATH}fast_powf"] = INTRINSICS[f"{_PATH}powf"]
INTRINSICS[f"{_PATH}fast_fdividef"] = INTRINSICS[f"{_PATH}fdiv_rn"]
INTRINSICS[f"{_PATH}saturatef"] = _same(_saturated, [T.FLOAT32], T.FLOAT32)


def _both(
    compute: Callable[[Any], tuple[Any, Any]], kind: np.dtype, second: np.dtype, flops: int = 0
) -> Intrinsic:
    """A function of one number that gives two."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        scalars(arguments, 1)
        return Typed(T.TupleType((kind, second)))

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
        machine.count_flops(node, kind, flops)
        first, other = compute(machine.convert(values[0], kind))
        return machine.convert(first, kind), machine.convert(other, second)

    return Intrinsic(typing, run)


for _suffix, _kind in (("", T.FLOAT64), ("f", T.FLOAT32)):
    INTRINSICS[f"{_PATH}frexp{_suffix}"] = _both(np.frexp, _kind, T.INT32)
    INTRINSICS[f"{_PATH}modf{_suffix}"] = _both(np.modf, _kind, _kind)
    INTRINSICS[f"{_PATH}sincos{_suffix}"] = _both(lambda x: (np.sin(x), np.cos(x)), _kind, _kind, 2)
    INTRINSICS[f"{_PATH}sincospi{_suffix}"] = _both(
        lambda x: (_ONE["sinpi"](x), _ONE["cospi"](x)), _kind, _kind, 2
    )
INTRINSICS[f"{_PATH}fast_sincosf"] = INTRINSICS[f"{_PATH}sincosf"]

_BITS: dict[str, tuple[np.dtype, np.dtype]] = {
    "float_as_int": (T.FLOAT32, T.INT32),
    "int_as_float": (T.INT32, T.FLOAT32),
    "double_as_longlong": (T.FLOAT64, T.INT64),
    "longlong_as_double": (T.INT64, T.FLOAT64),
}


def _same_bits(kind: np.dtype) -> Callable[[Any], Any]:
    return lambda number: number.view(kind)


def _unsigned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(x.astype(np.uint32), y.astype(np.uint32))


def _distance(x: Any, y: Any) -> Any:
    return np.maximum(x, y) - np.minimum(x, y)


for _libdevice_name, (_from, _to) in _BITS.items():
    INTRINSICS[_PATH + _libdevice_name] = _same(_same_bits(_to), [_from], _to)
_WHOLE: dict[str, tuple[Callable[..., Any], np.dtype, int]] = {  # of so many numbers
    "abs": (np.abs, T.INT32, 1),
    "llabs": (np.abs, T.INT64, 1),
    "min": (np.minimum, T.INT32, 2),
    "max": (np.maximum, T.INT32, 2),
    "llmin": (np.minimum, T.INT64, 2),
    "llmax": (np.maximum, T.INT64, 2),
    "sad": (lambda x, y, z: _distance(x, y) + z, T.INT32, 3),
    "usad": (lambda x, y, z: _unsigned(_distance)(x, y).astype(np.int32) + z, T.INT32, 3),
    "umin": (_unsigned(np.minimum), T.INT32, 2),
    "umax": (_unsigned(np.maximum), T.INT32, 2),
}
_TESTS: dict[str, tuple[Callable[..., Any], np.dtype]] = {
    "isnanf": (np.isnan, T.FLOAT32),
    "isnand": (np.isnan, T.FLOAT64),
    "isinff": (np.isinf, T.FLOAT32),
    "isinfd": (np.isinf, T.FLOAT64),
    "finitef": (np.isfinite, T.FLOAT32),
    "isfinited": (np.isfinite, T.FLOAT64),
}
for _libdevice_name, (_of_whole, _whole, _count) in _WHOLE.items():
    INTRINSICS[_PATH + _libdevice_name] = _same(_of_whole, [_whole] * _count, _whole)
for _libdevice_name, (_test, _tested) in _TESTS.items():
    INTRINSICS[_PATH + _libdevice_name] = _same(_test, [_tested], T.INT32)


def _as(path: str, takes: Sequence[np.dtype]) -> Intrinsic:
    """A function that the emulator has under another name."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        scalars(arguments, len(takes))
        return Typed(takes[0])

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        given = [machine.convert(value, kind) for value, kind in zip(values, takes, strict=True)]
        result: Value = INTRINSICS[path].run(machine, node, given)
        return result

    return Intrinsic(typing, run)


for _suffix, _kind in (("", T.FLOAT64), ("f", T.FLOAT32)):
    for _libdevice_name, _known in {
        "erf": "erf",
        "erfc": "erfc",
        "lgamma": "lgamma",
        "tgamma": "gamma",
    }.items():
        INTRINSICS[f"{_PATH}{_libdevice_name}{_suffix}"] = _as(f"math.{_known}", [_kind])
    for _libdevice_name in (f"fma{_suffix}", f"fma{_suffix}_rn"):
        INTRINSICS[_PATH + _libdevice_name] = _as("numba.cuda.fma", [_kind] * 3)
for _libdevice_name in ("clz", "popc", "ffs", "brev"):
    INTRINSICS[_PATH + _libdevice_name] = _as(f"numba.cuda.{_libdevice_name}", [T.INT32])
