"""The special registers, such as `cuda.threadIdx.x`, and where a thread is in the whole grid."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    ATTRIBUTES,
    INTRINSICS,
    Arguments,
    Attribute,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import WARP_SIZE, Value

_AXES = {"x": 2, "y": 1, "z": 0}


def _register(path: str, read: Callable[[Runner], Value]) -> None:
    ATTRIBUTES[f"numba.cuda.{path}"] = Attribute(T.INT32, read)


def _register_axis(name: str, axis: int) -> None:
    _register(f"threadIdx.{name}", lambda machine: machine.space.thread_index[axis])
    _register(f"blockIdx.{name}", lambda machine: machine.space.block_index[axis])
    _register(f"blockDim.{name}", lambda machine: np.int32(machine.space.threads[axis]))
    _register(f"gridDim.{name}", lambda machine: np.int32(machine.space.grid[axis]))


for _name, _axis in _AXES.items():
    _register_axis(_name, _axis)


def _lane(machine: Runner) -> Value:
    return (machine.space.thread_in_block % WARP_SIZE).astype(np.int32)


_register("laneid", _lane)
_register("warpsize", lambda machine: np.int32(WARP_SIZE))


def _grid_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes the number of dimensions, 1, 2 or 3")
    dimensions = arguments[0].literal
    need(dimensions in (1, 2, 3), "the number of dimensions must be the constant 1, 2 or 3")
    if dimensions == 1:
        return Typed(T.INT64)
    return Typed(T.TupleType((T.INT64,) * int(dimensions)))  # type: ignore[arg-type]


def _per_axis(
    one: Callable[[Runner, int], Value],
) -> Callable[[Runner, ast.Call, list[Any]], Any]:
    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Any:
        axes = [one(machine, axis) for axis in (2, 1, 0)[: int(values[0])]]
        return axes[0] if len(axes) == 1 else tuple(axes)

    return run


def _grid_axis(machine: Runner, axis: int) -> Value:
    space = machine.space
    block = space.block_index[axis].astype(np.int64)
    return block * np.int64(space.threads[axis]) + space.thread_index[axis]


def _gridsize_axis(machine: Runner, axis: int) -> Value:
    return np.int64(machine.space.grid[axis] * machine.space.threads[axis])


INTRINSICS["numba.cuda.grid"] = Intrinsic(_grid_typing, _per_axis(_grid_axis))
INTRINSICS["numba.cuda.gridsize"] = Intrinsic(_grid_typing, _per_axis(_gridsize_axis))
