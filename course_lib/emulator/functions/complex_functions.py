"""Complex numbers in a kernel: `complex`, the functions of cmath, and their parts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.elementwise import elementwise
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
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.wording.sentences import say


def _complex_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 2, complex_too=len(arguments) == 1)
    need(T.BOOL not in kinds, "takes no bool")
    single = all(kind == T.FLOAT32 for kind in kinds)
    return Typed(T.COMPLEX64 if single else T.COMPLEX128)


def _complex(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.typing.types[node]
    assert isinstance(kind, np.dtype)
    if len(values) == 1:
        result: Value = machine.convert(values[0], kind)
        return result
    return from_parts(*(machine.convert(value, T.part_type(kind)) for value in values))


def from_parts(real: Value, imaginary: Value) -> Value:
    """Complex numbers of two floats of one type. (`real + 1j * imaginary` loses infinities.)"""
    kind = T.COMPLEX64 if real.dtype == T.FLOAT32 else T.COMPLEX128
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imaginary)), kind)
    result.real, result.imag = real, imaginary
    return result[()]


INTRINSICS["builtins.complex"] = Intrinsic(_complex_typing, _complex)


def _complex_of(kinds: list[np.dtype]) -> np.dtype:
    """complex64 for what float32 holds, as Numba chooses it for functions of cmath."""
    small = kinds[0] in (T.FLOAT32, T.COMPLEX64) or kinds[0].itemsize < 4
    return T.COMPLEX64 if small else T.COMPLEX128


def _only_complex(result: Callable[[np.dtype], np.dtype]) -> Callable[[list[np.dtype]], np.dtype]:
    def of(kinds: list[np.dtype]) -> np.dtype:
        message = say("takes a complex number, not {type}; complex(…) makes one", type=kinds[0])
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


def _log(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.typing.types[node]
    assert isinstance(kind, np.dtype)
    machine.count_flops(node, kind, len(values))
    logarithms = [np.log(machine.convert(value, kind)) for value in values]
    result: Value = logarithms[0] if len(values) == 1 else logarithms[0] / logarithms[1]
    return result


def _polar_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    part = _only_complex(T.part_type)(scalars(arguments, 1, complex_too=True))
    return Typed(T.TupleType((part, part)))


def _polar(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    machine.count_flops(node, values[0].dtype, 2)
    return np.abs(values[0]), np.angle(values[0])[()]


def _rect_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 2)
    need(all(map(T.is_float, kinds)), "takes two floats")
    return Typed(T.COMPLEX64 if kinds == [T.FLOAT32, T.FLOAT32] else T.COMPLEX128)


def _rect(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.typing.types[node]
    assert isinstance(kind, np.dtype)
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


INTRINSICS["cmath.log"] = Intrinsic(_log_typing, _log)
INTRINSICS["cmath.polar"] = Intrinsic(_polar_typing, _polar)
INTRINSICS["cmath.rect"] = Intrinsic(_rect_typing, _rect)


# -- what numbers themselves offer -----------------------------------------------------------------


def _conjugate_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kind = scalars(arguments, 1, complex_too=True)[0]
    need(kind != T.BOOL, "takes no bool")
    return Typed(kind)


CONJUGATE = Intrinsic(_conjugate_typing, lambda machine, node, values: np.conjugate(values[0]))
ITEM = Intrinsic(
    lambda arguments, keywords: Typed(scalars(arguments, 1, complex_too=True)[0]),
    lambda machine, node, values: values[0],
)


def _bit_count_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kind = scalars(arguments, 1)[0]
    need(T.is_integer(kind), say("{kind} has no bits to count", kind=kind))
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
