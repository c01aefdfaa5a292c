"""Python's operators: what each gives, and of which type that is in a kernel.

One table serves all who evaluate expressions. Python's own functions do the work, on its numbers
(constants, plain functions) and on NumPy's arrays of lanes (kernels) alike; only a power of lanes
is computed in another way. The types are those that Numba's compiler finds.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.wording.sentences import say


@dataclass(frozen=True)
class Operator:
    """What an operator does with numbers."""

    compute: Callable[..., Any]  # the operation itself
    # from the types of the operands to the one that Numba computes in, and which the result has;
    # raises TypingError
    result: Callable[..., np.dtype]
    # the operation in a kernel, where that is another one
    on_lanes: Callable[..., Any] | None = None
    complex_flops: int = 1  # how many operations on floats it counts as, of complex numbers
    is_product: bool = False  # it is rounded, unless the compiler fuses it with a sum
    divides: bool = False  # by zero, too
    hides_limits: bool = False  # it leaves numbers below a limit as they are, as `%` does

    def __call__(self, *operands: Any) -> Any:
        return self.compute(*operands)


def arithmetic_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """The type in which `left + right` is computed, and which it has.

    Integers are widened to 64 bits: signed unless both are unsigned.
    """
    common = np.promote_types(left, right)
    if T.UINT16 in (left, right) and {T.FLOAT32, T.COMPLEX64} & {left, right}:
        # For operators, unlike for variables, Numba does not count this step safe.
        return T.COMPLEX128 if T.is_complex(common) else T.FLOAT64
    if left.kind in "fc" or right.kind in "fc":
        return common
    both_unsigned = left.kind in "u" and right.kind in "u"
    return T.UINT64 if both_unsigned else T.INT64


def division_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """The type of `left / right`: never an integer."""
    common = arithmetic_type(left, right)
    return common if common.kind in "fc" else T.FLOAT64


def remainder_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """The type of `left // right` and `left % right`. Raises TypingError for complex numbers."""
    result = arithmetic_type(left, right)
    if T.is_complex(result):
        raise T.TypingError("has no // and no % for complex numbers")
    return result


def power_type(base: np.dtype, exponent: np.dtype) -> np.dtype:
    """The type of `base ** exponent`: a float's integer power stays of the float's type.

    Integer means int32 here; a literal counts as one.
    """
    if T.is_float(base) and exponent == T.INT32:
        return base
    return arithmetic_type(base, exponent)


def bitwise_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """The type of `left & right`, `|` and `^`; a TypingError for floats and complex numbers."""
    if left.kind in "fc" or right.kind in "fc":
        raise T.TypingError(
            say("has no bitwise operation on {left} and {right}", left=left, right=right)
        )
    if left == T.BOOL and right == T.BOOL:
        return T.BOOL
    both_unsigned = left.kind == "u" and right.kind == "u"
    return T.UINT64 if both_unsigned else T.INT64


def shift_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """The type of `left`, widened to 64 bits; a TypingError for floats and complex numbers."""
    if left.kind in "fc" or right.kind in "fc":
        raise T.TypingError(say("cannot shift {left} by {right}", left=left, right=right))
    return T.UINT64 if left.kind == "u" else T.INT64


def negation_type(operand: np.dtype) -> np.dtype:
    """The type of `-x` and `+x`: integers are widened to 64 bits."""
    if operand.kind in "fc":
        return operand
    return T.UINT64 if operand.kind == "u" else T.INT64


def inversion_type(operand: np.dtype) -> np.dtype:
    """The type of `~x`."""
    return T.BOOL if operand == T.BOOL else negation_type(operand)


def power(base: Any, exponent: Any) -> Any:
    """Powers; a negative exponent of an integer gives the real power, truncated.

    Numba multiplies where a complex number is squared, and so do we.
    """
    if base.dtype.kind == "c":
        return np.where(exponent == 2, base * base, np.power(base, exponent))[()]
    if base.dtype.kind in "iu" and np.any(np.less(exponent, 0)):
        real = np.power(np.asarray(base, np.float64), exponent)
        return np.trunc(real).astype(base.dtype)
    return np.power(base, exponent)


BINARY: Mapping[type[ast.operator], Operator] = {
    ast.Add: Operator(operator.add, arithmetic_type, complex_flops=2),
    ast.Sub: Operator(operator.sub, arithmetic_type, complex_flops=2),
    ast.Mult: Operator(operator.mul, arithmetic_type, complex_flops=6, is_product=True),
    ast.Div: Operator(operator.truediv, division_type, complex_flops=9, divides=True),
    ast.FloorDiv: Operator(operator.floordiv, remainder_type, divides=True, hides_limits=True),
    ast.Mod: Operator(operator.mod, remainder_type, divides=True, hides_limits=True),
    ast.Pow: Operator(operator.pow, power_type, on_lanes=power, is_product=True),
    ast.LShift: Operator(operator.lshift, shift_type),
    ast.RShift: Operator(operator.rshift, shift_type, hides_limits=True),
    ast.BitAnd: Operator(operator.and_, bitwise_type, hides_limits=True),
    ast.BitOr: Operator(operator.or_, bitwise_type),
    ast.BitXor: Operator(operator.xor, bitwise_type),
}
UNARY: Mapping[type[ast.unaryop], Operator] = {
    ast.USub: Operator(operator.neg, negation_type),
    ast.UAdd: Operator(operator.pos, negation_type),
    ast.Not: Operator(operator.not_, lambda operand: T.BOOL),
    ast.Invert: Operator(operator.invert, inversion_type),
}
# The result of a comparison is a truth value, whatever is compared.
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# `is` has a rule of its own wherever it is known.
COMPARE_OR_IS = {**COMPARE, ast.Is: operator.is_, ast.IsNot: operator.is_not}


# --- The functions of Python's module `operator` --------------------------------------------------

_BINARY = {operation.compute.__name__: kind for kind, operation in BINARY.items()}
_UNARY = {operation.compute.__name__: kind for kind, operation in UNARY.items()} | {
    "inv": ast.Invert
}
_COMPARING = {compute.__name__: kind for kind, compute in COMPARE_OR_IS.items()}


def as_operator(path: str, call: ast.Call) -> ast.expr | None:
    """The expression that a call of `operator.add` and its like means; None if it is no such call.

    Of numbers, the functions that change their operand in place (`iadd`) compute the same.
    """
    module, _, name = path.rpartition(".")
    arguments = call.args
    if module != "operator" or call.keywords:
        return None
    plain = name[1:] if name[:1] == "i" and name[1:] in {n.rstrip("_") for n in _BINARY} else name
    binary = _BINARY.get(name) or _BINARY.get(plain) or _BINARY.get(plain + "_")
    made: ast.expr | None = None
    if binary is not None and len(arguments) == 2:
        made = ast.BinOp(arguments[0], binary(), arguments[1])
    elif name in _COMPARING and len(arguments) == 2:
        made = ast.Compare(arguments[0], [_COMPARING[name]()], [arguments[1]])
    elif name == "contains" and len(arguments) == 2:
        made = ast.Compare(arguments[1], [ast.In()], [arguments[0]])
    elif name == "getitem" and len(arguments) == 2:
        made = ast.Subscript(arguments[0], arguments[1], ast.Load())
    elif name in _UNARY and len(arguments) == 1:
        made = ast.UnaryOp(_UNARY[name](), arguments[0])
    return None if made is None else ast.copy_location(made, call)
