"""The random numbers of `numba.cuda.random`: one xoroshiro128+ generator for every state.

Each call advances the state that its thread names; the numbers are those that Numba draws, bit
for bit (Blackman and Vigna, "Scrambled linear pseudorandom number generators"; numba.cuda.random).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
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
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value

# The two words of a generator's state, as numba.cuda.random lays them out.
STATE = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
_BITS = 64
_TO_UNIT = 1.0 / (1 << 53)


def _rotated(word: np.ndarray, by: int) -> np.ndarray:
    return (word << np.uint64(by)) | (word >> np.uint64(_BITS - by))


def advance(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states one step on, and the 64 random bits of that step."""
    s0, s1 = states["s0"], states["s1"]
    drawn = s0 + s1
    s1 = s1 ^ s0
    after = np.empty(np.shape(states), STATE)
    after["s0"] = _rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    after["s1"] = _rotated(s1, 36)
    return after, drawn


def _uniform(machine: Machine, values: list[Any], dtype: np.dtype) -> Value:
    """Numbers from 0 to below 1, one for each active lane."""
    states, index = values
    bits = machine.unit.replace(states, [index], advance, machine.active, machine.line)
    return ((bits >> np.uint64(11)) * np.float64(_TO_UNIT)).astype(dtype)


def _normal(machine: Machine, values: list[Any], dtype: np.dtype) -> Value:
    """Normally distributed numbers, by Box and Muller's transform of two uniform ones.

    Numba draws the two as float32, also for a float64 result.
    """
    first, second = (_uniform(machine, values, T.FLOAT32) for _ in range(2))
    radius = np.sqrt(dtype.type(-2.0) * np.log(first))
    result: Value = (radius * np.cos(dtype.type(2 * np.pi) * second)).astype(dtype)
    return result


def _generator(draw: Callable[[Any, list[Any], np.dtype], Value], dtype: np.dtype) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(len(arguments) == 2, "takes the states and an index")
        states, index = arguments[0].type, arguments[1].type
        is_state = isinstance(states, T.ArrayType) and states.dtype == STATE and states.ndim == 1
        need(is_state, "needs states made by create_xoroshiro128p_states")
        need(T.is_integer(index), "the index must be an integer")
        return Typed(dtype)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        return draw(machine, values, dtype)

    return Intrinsic(typing, run)


for _name, _draw in {"uniform": _uniform, "normal": _normal}.items():
    for _dtype in (T.FLOAT32, T.FLOAT64):
        INTRINSICS[f"numba.cuda.random.xoroshiro128p_{_name}_{_dtype}"] = _generator(_draw, _dtype)
