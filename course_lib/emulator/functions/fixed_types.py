"""Functions of libdevice and of `cuda.fp16`, whose arguments Numba converts to fixed types.

`libdevice.sinf` takes float32, `libdevice.sin` float64, `fp16.hsin` float16. NumPy's last digits
differ from those of a GPU, whose fast functions round more coarsely.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    scalars,
)
from course_lib.emulator.language.operators import power
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value

PATH = "numba.cuda.libdevice."
HALF = "numba.cuda.fp16."


def _add(
    name: str,
    compute: Callable[..., Any],
    takes: Sequence[np.dtype],
    gives: T.Type,
    flops: int = 0,
    path: str = PATH,
) -> None:
    """Enter a function of so many numbers, which returns one number or a tuple of them."""

    def run(machine: Machine, node: ast.Call, given: list[Any]) -> Any:
        kind = gives.items[0] if isinstance(gives, T.TupleType) else gives
        machine.count_flops(node, kind, flops)  # type: ignore[arg-type]
        return machine.convert(compute(*given), gives)

    _add_run(path + name, run, takes, gives)


def _add_as(name: str, path: str, takes: Sequence[np.dtype]) -> None:
    """Enter a function that the emulator has under another name."""
    _add_run(PATH + name, lambda *call: INTRINSICS[path].run(*call), takes, takes[0])


def _add_run(name: str, run: Callable[..., Any], takes: Sequence[np.dtype], gives: T.Type) -> None:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        scalars(arguments, len(takes))
        return Typed(gives)

    def converted(machine: Machine, node: ast.Call, values: list[Any]) -> Any:
        pairs = zip(values, takes, strict=True)
        return run(machine, node, [machine.convert(value, kind) for value, kind in pairs])

    INTRINSICS[name] = Intrinsic(typing, converted)


def _nearest(number: Value) -> Value:
    """Rounded to the nearest integer, halves away from zero, as C's `round` does."""
    return np.trunc(number + np.copysign(number.dtype.type(0.5), number))


def _saturated(number: Value) -> Value:
    return np.where(np.isnan(number), number.dtype.type(0), np.clip(number, 0, 1))


def _sinpi(number: Value) -> Value:
    return np.sin(np.pi * np.remainder(number, 2))


def _cospi(number: Value) -> Value:
    return np.cos(np.pi * np.remainder(number, 2))


_ONE = """acos acosh asin asinh atan atanh cbrt ceil cos cosh exp exp2 expm1 fabs floor log log10
    log1p log2 rint sin sinh sqrt tan tanh trunc""".split()
_TWO = "atan2 copysign fmax fmin fmod hypot nextafter pow".split()
_OF_FLOATS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, getattr(np, name)) for name in _ONE},
    **{name: (2, getattr(np, name)) for name in _TWO},
    "cospi": (1, _cospi),
    "exp10": (1, lambda x: np.power(x.dtype.type(10), x)),
    "fdim": (2, lambda x, y: np.where(x > y, x - y, x.dtype.type(0))),
    "nearbyint": (1, np.rint),
    "rcbrt": (1, lambda x: 1 / np.cbrt(x)),
    "round": (1, _nearest),
    "rsqrt": (1, lambda x: 1 / np.sqrt(x)),
    "sinpi": (1, _sinpi),
}
_NO_FLOPS = set("ceil copysign fabs floor fmax fmin nearbyint nextafter rint round trunc".split())
_ROUNDED: dict[str, tuple[int, Callable[..., Any]]] = {  # to the nearest; no other roundings
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "mul": (2, np.multiply),
    "div": (2, np.divide),
    "sqrt": (1, np.sqrt),
    "rcp": (1, np.reciprocal),
}
for _end, _letter, _kind in (("", "d", T.FLOAT64), ("f", "f", T.FLOAT32)):
    for _name, (_count, _compute) in _OF_FLOATS.items():
        _add(_name + _end, _compute, [_kind] * _count, _kind, int(_name not in _NO_FLOPS))
    for _name, (_count, _compute) in _ROUNDED.items():
        if (_letter, _name) != ("d", "sub"):  # libdevice has none
            _add(f"{_letter}{_name}_rn", _compute, [_kind] * _count, _kind, 1)
    _pair = T.TupleType((_kind, _kind))
    _add(f"powi{_end}", power, [_kind, T.INT32], _kind, 1)
    _add(f"ldexp{_end}", np.ldexp, [_kind, T.INT32], _kind)
    _add(f"frexp{_end}", np.frexp, [_kind], T.TupleType((_kind, T.INT32)))
    _add(f"modf{_end}", np.modf, [_kind], _pair)
    _add(f"sincos{_end}", lambda x: (np.sin(x), np.cos(x)), [_kind], _pair, 2)
    _add(f"sincospi{_end}", lambda x: (_sinpi(x), _cospi(x)), [_kind], _pair, 2)
    for _name in ("erf", "erfc", "lgamma"):
        _add_as(_name + _end, f"math.{_name}", [_kind])
    _add_as(f"tgamma{_end}", "math.gamma", [_kind])
    for _name in (f"fma{_end}", f"fma{_end}_rn"):
        _add_as(_name, "numba.cuda.fma", [_kind] * 3)
for _name in "cosf expf exp10f log10f log2f logf powf sincosf sinf tanf".split():
    INTRINSICS[f"{PATH}fast_{_name}"] = INTRINSICS[PATH + _name]
INTRINSICS[f"{PATH}fast_fdividef"] = INTRINSICS[f"{PATH}fdiv_rn"]
_add("saturatef", _saturated, [T.FLOAT32], T.FLOAT32)


def _unsigned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(x.astype(np.uint32), y.astype(np.uint32))


def _distance(x: Any, y: Any) -> Any:
    return np.maximum(x, y) - np.minimum(x, y)


_int, _long, _float, _double = T.INT32, T.INT64, T.FLOAT32, T.FLOAT64
_add("float_as_int", lambda x: x.view(np.int32), [_float], _int)
_add("int_as_float", lambda x: x.view(np.float32), [_int], _float)
_add("double_as_longlong", lambda x: x.view(np.int64), [_double], _long)
_add("longlong_as_double", lambda x: x.view(np.float64), [_long], _double)
for _name, _whole in (("", _int), ("ll", _long)):
    _add(f"{_name}abs", np.abs, [_whole], _whole)
    _add(f"{_name}min", np.minimum, [_whole] * 2, _whole)
    _add(f"{_name}max", np.maximum, [_whole] * 2, _whole)
_add("umin", _unsigned(np.minimum), [_int] * 2, _int)
_add("umax", _unsigned(np.maximum), [_int] * 2, _int)
_add("sad", lambda x, y, z: _distance(x, y) + z, [_int] * 3, _int)
_add("usad", lambda x, y, z: _unsigned(_distance)(x, y).astype(np.int32) + z, [_int] * 3, _int)
for _name, _test in {"isnan": np.isnan, "isinf": np.isinf}.items():
    _add(f"{_name}f", _test, [_float], _int)
    _add(f"{_name}d", _test, [_double], _int)
_add("finitef", np.isfinite, [_float], _int)
_add("isfinited", np.isfinite, [_double], _int)
for _name in ("clz", "popc", "ffs", "brev"):
    _add_as(_name, f"numba.cuda.{_name}", [_int])


# --- cuda.fp16 -----------------------------------------------------------------------------------


def _fma(x: Value, y: Value, z: Value) -> Value:
    """Rounded once: float64 holds all digits of the product, and of a sum that is near a tie."""
    result: Value = x.astype(np.float64) * y + z
    return result


def _in_float32(compute: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda number: compute(number.astype(np.float32))


_COMPARED: dict[str, Callable[..., Any]] = {
    "heq": np.equal,
    "hne": np.not_equal,
    "hgt": np.greater,
    "hge": np.greater_equal,
    "hlt": np.less,
    "hle": np.less_equal,
}
_IN_FLOAT32 = "ceil cos exp exp10 exp2 floor log log10 log2 rint rsqrt sin sqrt tanh trunc".split()
_half = T.FLOAT16
for _name, _holds in _COMPARED.items():
    _add(_name, _holds, [_half] * 2, T.BOOL, path=HALF)
for _name in ("add", "sub", "mul", "div"):
    _add(f"h{_name}", _ROUNDED[_name][1], [_half] * 2, _half, 1, HALF)
for _name in _IN_FLOAT32:
    _compute = _in_float32(_OF_FLOATS[_name][1])
    _add(f"h{_name}", _compute, [_half], _half, int(_name not in _NO_FLOPS), HALF)
_add("hrcp", _in_float32(np.reciprocal), [_half], _half, 1, HALF)
_add("hfma", _fma, [_half] * 3, _half, 2, HALF)
_add("hneg", np.negative, [_half], _half, path=HALF)
_add("habs", np.abs, [_half], _half, path=HALF)
_add("hmax", lambda x, y: np.where(x > y, x, y), [_half] * 2, _half, path=HALF)
_add("hmin", lambda x, y: np.where(x < y, x, y), [_half] * 2, _half, path=HALF)
