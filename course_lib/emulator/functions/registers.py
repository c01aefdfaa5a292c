"""Special registers such as `cuda.threadIdx.x` and `cuda.laneid`, and CUDA's vector types."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    ATTRIBUTES,
    INTRINSICS,
    Arguments,
    Attribute,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import WARP_SIZE, Value
from course_lib.wording.sentences import say

COPY = "course_lib.emulator.copy"
_AXES = {"x": 2, "y": 1, "z": 0}


def _register(path: str, read: Callable[[Machine], Value]) -> None:
    ATTRIBUTES[f"numba.cuda.{path}"] = Attribute(T.INT32, read)


def _register_axis(name: str, axis: int) -> None:
    _register(f"threadIdx.{name}", lambda machine: machine.space.thread_index[axis])
    _register(f"blockIdx.{name}", lambda machine: machine.space.block_index[axis])
    _register(f"blockDim.{name}", lambda machine: np.int32(machine.space.threads[axis]))
    _register(f"gridDim.{name}", lambda machine: np.int32(machine.space.grid_size[axis]))


for _name, _axis in _AXES.items():
    _register_axis(_name, _axis)


def _lane(machine: Machine) -> Value:
    return (machine.space.thread_in_block % WARP_SIZE).astype(np.int32)


# No kernel of a student reads it: which copy of its launch a block belongs to (`LaunchShape.rows`).
ATTRIBUTES[f"{COPY}.number"] = Attribute(T.INT32, lambda machine: machine.space.place[0])
_register("laneid", _lane)
_register("warpsize", lambda machine: np.int32(WARP_SIZE))


def _grid_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes the number of dimensions, 1, 2 or 3")
    dimensions = arguments[0].literal
    need(dimensions in (1, 2, 3), "needs the constant 1, 2 or 3 as the number of dimensions")
    if dimensions == 1:
        return Typed(T.INT64)
    return Typed(T.TupleType((T.INT64,) * int(dimensions)))  # type: ignore[arg-type]


def _per_axis(
    one: Callable[[Machine, int], Value],
) -> Callable[[Machine, ast.Call, list[Any]], Any]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Any:
        axes = [one(machine, axis) for axis in (2, 1, 0)[: int(values[0])]]
        return axes[0] if len(axes) == 1 else tuple(axes)

    return run


def _grid_axis(machine: Machine, axis: int) -> Value:
    space = machine.space
    block = space.block_index[axis].astype(np.int64)
    return block * np.int64(space.threads[axis]) + space.thread_index[axis]


def _gridsize_axis(machine: Machine, axis: int) -> Value:
    return np.int64(machine.space.grid_size[axis] * machine.space.threads[axis])


INTRINSICS["numba.cuda.grid"] = Intrinsic(_grid_typing, _per_axis(_grid_axis))
INTRINSICS["numba.cuda.gridsize"] = Intrinsic(_grid_typing, _per_axis(_gridsize_axis))


# --- Vector types: `cuda.float32x4(a, b, c, d)`, or `cuda.float4`, with `.x` to `.w` --------------
# As in Numba they are values that do not change; there are no arrays of them.


# As CUDA C++ names them; `long` is 64 bits wide, as on Linux.
_IN_C = {
    "int8": ("char",), "int16": ("short",), "int32": ("int",), "int64": ("long", "longlong"),
    "uint8": ("uchar",), "uint16": ("ushort",), "uint32": ("uint",),
    "uint64": ("ulong", "ulonglong"), "float32": ("float",), "float64": ("double",),
}  # fmt: skip


def _constructor(kind: T.VectorType) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        numbers = 0
        for argument in arguments:
            if isinstance(argument.type, T.VectorType):
                need(
                    argument.type.dtype == kind.dtype,
                    say("cannot take parts of {type}", type=argument.type),
                )
                numbers += argument.type.size
            else:
                real = T.is_scalar(argument.type) and not T.is_complex(argument.type)
                need(real, say("needs numbers, not {type}", type=argument.type))
                numbers += 1
        said = say("takes {size} numbers, not {given}", size=kind.size, given=numbers)
        need(numbers == kind.size and not keywords, said)
        return Typed(kind)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
        parts = [
            part for value in values for part in (value if isinstance(value, tuple) else [value])
        ]
        return tuple(machine.convert(part, kind.dtype) for part in parts)

    return Intrinsic(typing, run)


for _vector, _others in _IN_C.items():
    for _size in (1, 2, 3, 4):
        _made = _constructor(T.VectorType(np.dtype(_vector), _size))
        INTRINSICS[f"numba.cuda.{_vector}x{_size}"] = _made
        for _other in _others:
            INTRINSICS[f"numba.cuda.{_other}{_size}"] = _made
