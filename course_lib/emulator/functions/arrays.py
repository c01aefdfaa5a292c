"""`cuda.shared.array` and `cuda.local.array`."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    supported,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.sentences import say


def _array_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    shape = arguments[0] if arguments else keywords.get("shape")
    dtype = arguments[1] if len(arguments) > 1 else keywords.get("dtype")
    need(shape is not None and dtype is not None, "needs a shape and a dtype")
    need(len(arguments) <= 3, "takes a shape, a dtype and an alignment")
    need(set(keywords) <= {"shape", "dtype", "alignment"}, "takes shape, dtype and alignment")
    _check_alignment(arguments[2] if len(arguments) > 2 else keywords.get("alignment"))
    assert shape is not None and dtype is not None
    if shape.literal is None:
        raise T.LiteralNeeded(
            "the shape must be a constant when the kernel is compiled (a number, or the name of a "
            "constant; neither an argument nor an expression)"
        )
    kind = T.ArrayType(static_dtype(dtype.type), _axes(shape.literal))
    return Typed(kind, shape.literal)


def _check_alignment(alignment: Typed | None) -> None:
    """Refuse an alignment that Numba refuses."""
    if alignment is None or alignment.type == T.Static(None):
        return
    size = alignment.literal
    need(isinstance(size, int), "the alignment must be a constant integer")
    assert isinstance(size, int)
    power_of_two = size > 0 and size & (size - 1) == 0
    need(power_of_two and size % 8 == 0, "the alignment must be 8, 16, 32 or another power of two")


def _axes(shape: object) -> int:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    need(all(type(size) is int for size in sizes), "the shape must be made of whole numbers")
    supported(
        min(sizes, default=0) >= 0, "makes no array of negative size here", "Which size is meant?"
    )
    return len(sizes)


def static_dtype(kind: T.Type) -> np.dtype:
    """The dtype that an argument names: float32, np.float32, "float32" or A.dtype.

    Raises:
        TypingError: if it names none.
    """
    value = kind.value if isinstance(kind, T.Static) else None
    if isinstance(value, Reference) and value.dtype is not None:
        return value.dtype
    if isinstance(value, np.dtype):
        known = T.is_number_type(value) or T.is_record_type(value)
        need(known, say("{kind} is no type of numbers", kind=value))
        return value
    if isinstance(value, str) and value in T.DTYPES:
        return T.DTYPES[value]
    raise T.TypingError(say("{kind} is no dtype; write float32 or np.float32", kind=kind))


def _make_array(space: str) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        typed = _array_typing(arguments, keywords)
        sizes = typed.literal if isinstance(typed.literal, tuple) else (typed.literal,)
        need(space == "shared" or 0 not in sizes, "an array has at least one element")
        return typed

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Any:
        return machine.make_array(space, node)

    return Intrinsic(typing, run)


INTRINSICS["numba.cuda.shared.array"] = _make_array("shared")
INTRINSICS["numba.cuda.local.array"] = _make_array("local")
