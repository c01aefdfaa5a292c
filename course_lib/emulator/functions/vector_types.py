"""CUDA's vector types: `cuda.float32x4(a, b, c, d)`, or `cuda.float4`, with `.x` to `.w`.

As in Numba they are values that do not change; there are no arrays of them.
"""

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
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value
from course_lib.sentences import say

# As CUDA C++ names them; `long` is 64 bits wide, as on Linux.
_IN_C = {
    "int8": ("char",), "int16": ("short",), "int32": ("int",), "int64": ("long", "longlong"),
    "uint8": ("uchar",), "uint16": ("ushort",), "uint32": ("uint",),
    "uint64": ("ulong", "ulonglong"), "float32": ("float",), "float64": ("double",),
}  # fmt: skip


def _constructor(kind: T.VectorType) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        numbers = 0
        for each in arguments:
            if isinstance(each.type, T.VectorType):
                need(each.type.dtype == kind.dtype, say("takes no parts of {type}", type=each.type))
                numbers += each.type.size
            else:
                real = T.is_scalar(each.type) and not T.is_complex(each.type)
                need(real, say("needs numbers, not {type}", type=each.type))
                numbers += 1
        said = say("takes {size} numbers, not {given}", size=kind.size, given=numbers)
        need(numbers == kind.size and not keywords, said)
        return Typed(kind)

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
        parts = [part for each in values for part in (each if isinstance(each, tuple) else [each])]
        return tuple(machine.convert(part, kind.dtype) for part in parts)

    return Intrinsic(typing, run)


for _name, _others in _IN_C.items():
    for _size in (1, 2, 3, 4):
        _made = _constructor(T.VectorType(np.dtype(_name), _size))
        INTRINSICS[f"numba.cuda.{_name}x{_size}"] = _made
        for _other in _others:
            INTRINSICS[f"numba.cuda.{_other}{_size}"] = _made
