"""Python's operators as NumPy's functions, and which of them a limit may hide in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.math_functions import integer_power
from course_lib.emulator.language import types as T

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
