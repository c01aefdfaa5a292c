"""Python's operators as NumPy's functions, and which of them a limit may hide in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.math_functions import integer_power
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
    ast.Pow: integer_power,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
}
DOUBLE = (T.FLOAT64, T.COMPLEX128)
PRODUCTS = (ast.Mult, ast.Pow)
WRAPS = {ast.Mod, ast.FloorDiv, ast.BitAnd, ast.RShift}
# What an operator costs on complex numbers: that many operations on floats.
COMPLEX_FLOPS: dict[type[ast.operator], int] = {
    ast.Add: 2,
    ast.Sub: 2,
    ast.Mult: 6,
    ast.Div: 9,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Invert: np.invert,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


# --- Rounds products up or down by chance, as a GPU may round each of them, or not ----------------
# Numba lets the compiler fuse a product with a sum that it is a part of: `x * x - y` becomes one
# instruction that rounds once. Which products are fused is up to the compiler, across statements
# too. The exact product lies between two float32 numbers next to each other; where the result of a
# kernel is the same whichever of them is taken, by each lane anew, it does not depend on that
# choice.


# The bits of a float64 that a float32 lacks. Where they are cut off, a number is rounded towards
# zero; where so much is added before that one of them is carried, away from it.
LACKING = np.int64((1 << 29) - 1)
KEPT = ~LACKING
DRAWN = 1 << 16


class EitherRounding:
    """Takes one of the two float32 numbers around an exact product, lane by lane."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng((seed, 32))
        self._added = rng.integers(0, 2, DRAWN) * LACKING
        self._used = 0

    def __call__(self, compute: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
        """The product, or power, of float32 numbers that `compute` works out."""
        exact = np.asarray(compute(left.astype(np.float64), right))
        bits = self._draw(exact.size).reshape(exact.shape) + exact.view(np.int64)
        bits &= KEPT
        result: Value = bits.view(np.float64).astype(np.float32)
        return result if result.ndim else result[()]

    def _draw(self, count: int) -> np.ndarray:
        if count > DRAWN:
            return np.resize(self._added, count)
        self._used = 0 if self._used + count > DRAWN else self._used
        self._used += count
        return self._added[self._used - count : self._used]
