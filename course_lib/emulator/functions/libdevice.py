"""NVIDIA's libdevice, as far as its functions are known ones under other names.

Each takes numbers of fixed types, into which Numba converts the arguments: `sinf` float32, `sin`
float64. NumPy's last digits differ from those of a GPU, whose fast functions round more coarsely.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    scalars,
)
from course_lib.emulator.functions.math_functions import integer_power
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value

_PATH = "numba.cuda.libdevice."


def _function(
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
    for _name, _compute in _ONE.items():
        _made = _function(_compute, [_kind], _kind, int(_name not in _NO_FLOPS))
        INTRINSICS[f"{_PATH}{_name}{_suffix}"] = _made
    for _name, _of_two in _TWO.items():
        _made = _function(_of_two, [_kind] * 2, _kind, int(_name not in _NO_FLOPS))
        INTRINSICS[f"{_PATH}{_name}{_suffix}"] = _made
    for _name, _compute in _ROUNDED.items():
        _count = 1 if _name in ("sqrt", "rcp") else 2
        if (_letter, _name) != ("d", "sub"):  # libdevice has none
            _made = _function(_compute, [_kind] * _count, _kind, 1)
            INTRINSICS[f"{_PATH}{_letter}{_name}_rn"] = _made
    INTRINSICS[f"{_PATH}powi{_suffix}"] = _function(integer_power, [_kind, T.INT32], _kind, 1)
    INTRINSICS[f"{_PATH}ldexp{_suffix}"] = _function(np.ldexp, [_kind, T.INT32], _kind)
for _name in "cosf expf exp10f log10f log2f logf sinf tanf".split():
    INTRINSICS[f"{_PATH}fast_{_name}"] = INTRINSICS[_PATH + _name]
INTRINSICS[f"{_PATH}fast_powf"] = INTRINSICS[f"{_PATH}powf"]
INTRINSICS[f"{_PATH}fast_fdividef"] = INTRINSICS[f"{_PATH}fdiv_rn"]
INTRINSICS[f"{_PATH}saturatef"] = _function(_saturated, [T.FLOAT32], T.FLOAT32)


def _pair(
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
    INTRINSICS[f"{_PATH}frexp{_suffix}"] = _pair(np.frexp, _kind, T.INT32)
    INTRINSICS[f"{_PATH}modf{_suffix}"] = _pair(np.modf, _kind, _kind)
    INTRINSICS[f"{_PATH}sincos{_suffix}"] = _pair(lambda x: (np.sin(x), np.cos(x)), _kind, _kind, 2)
    INTRINSICS[f"{_PATH}sincospi{_suffix}"] = _pair(
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


for _name, (_from, _to) in _BITS.items():
    INTRINSICS[_PATH + _name] = _function(_same_bits(_to), [_from], _to)
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
for _name, (_of_whole, _whole, _count) in _WHOLE.items():
    INTRINSICS[_PATH + _name] = _function(_of_whole, [_whole] * _count, _whole)
for _name, (_test, _tested) in _TESTS.items():
    INTRINSICS[_PATH + _name] = _function(_test, [_tested], T.INT32)


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
    for _name, _known in {
        "erf": "erf",
        "erfc": "erfc",
        "lgamma": "lgamma",
        "tgamma": "gamma",
    }.items():
        INTRINSICS[f"{_PATH}{_name}{_suffix}"] = _as(f"math.{_known}", [_kind])
    for _name in (f"fma{_suffix}", f"fma{_suffix}_rn"):
        INTRINSICS[_PATH + _name] = _as("numba.cuda.fma", [_kind] * 3)
for _name in ("clz", "popc", "ffs", "brev"):
    INTRINSICS[_PATH + _name] = _as(f"numba.cuda.{_name}", [T.INT32])
