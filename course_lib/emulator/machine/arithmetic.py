"""Arithmetic on lanes: the operators, the floating-point operations that they count as."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.operators import (
    COMPLEX_FLOPS,
    DOUBLE,
    OPERATORS,
    PRODUCTS,
    UNARY,
    WRAPS,
)
from course_lib.emulator.state.lanes import Value


def binary(machine: Machine, node: ast.BinOp) -> Any:
    left, right = machine.evaluate(node.left), machine.evaluate(node.right)
    if isinstance(left, tuple):
        return left + right
    return operate(machine, node, left, right)


def operate(machine: Machine, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
    """One arithmetic operation, in the type that Numba computes it in."""
    dtype = machine.frame.typing.operands[node]
    if dtype.kind in "fc" and machine.counts_flops:
        note_flops(machine, node, dtype, left, right)
    left, right = machine.convert(left, dtype), machine.convert(right, dtype)
    if type(node.op) in WRAPS and dtype.kind in "iu":
        machine.meet_limit("wrap", node, left, _first_beyond(node.op, right))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            machine.meet_limit("wrap", node.left, right, _first_beyond(node.op, left))
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        # Without debug=True only a complex number divided by 0 ends a thread.
        kernel = machine.frame.typing.kernel
        fast = kernel.is_fast and isinstance(node.op, ast.Div) and dtype == np.float32
        if dtype.kind == "c" or (kernel.is_debugged and not fast):
            _end_where_zero(machine, right, node.lineno)
    compute = OPERATORS[type(node.op)]
    if machine.products and isinstance(node.op, PRODUCTS) and dtype == np.float32:
        return machine.products(compute, left, right)
    result: Value = compute(left, right)
    return result


def _end_where_zero(machine: Machine, divisor: Value, line: int) -> None:
    """Lanes that divide by 0 raise an exception where Numba compiles one in."""
    failed = machine.active.where(divisor == 0)
    if not failed.empty:
        machine.raise_exception("ZeroDivisionError (a number is divided by 0)", failed, line)


def note_flops(
    machine: Machine, node: ast.BinOp | ast.AugAssign, dtype: np.dtype, left: Value, right: Value
) -> None:
    """Count a floating-point operation of each active lane; of complex numbers, several."""
    both_integers = left.dtype.kind in "iub" and right.dtype.kind in "iub"
    active, is_float64 = machine.active, dtype in DOUBLE
    each = 1 if dtype.kind == "f" else COMPLEX_FLOPS.get(type(node.op), 1)
    count = each * active.lanes
    machine.observers.flops(node.lineno, active, count, is_float64, not both_integers)


def unary(machine: Machine, node: ast.UnaryOp) -> Value:
    operand = machine.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return ~machine.truth(operand)
    operand = machine.convert(operand, machine.typing.operands[node])
    result: Value = UNARY[type(node.op)](operand)
    return result


def _first_beyond(op: ast.operator, number: Value) -> Value:
    """The least number that `% number`, `// number`, `& number` or `>> number` changes in the way
    that a limit does; of a mask with gaps there is none worth looking at."""
    if isinstance(op, ast.RShift):
        return np.int64(1) << np.clip(number, 0, 62).astype(np.int64)
    return number + np.int64(1) if isinstance(op, ast.BitAnd) else number
