"""Operators on lanes: what each computes, the FLOP that it counts, the limits that it may hide."""

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.machine import DOUBLE, Machine
from course_lib.emulator.state.lanes import Value

# What an operator does with the values of its operands.
Operation = Callable[[Machine, Any, Any], Value]


# --- Arithmetic and its floating-point operations -------------------------------------------------


def binary(typing: Typing, node: ast.BinOp | ast.AugAssign) -> Operation:
    """One arithmetic operation, in the type that Numba computes it in."""
    dtype, op, kernel = typing.operands[node], BINARY[type(node.op)], typing.kernel
    compute = op.on_lanes or op.compute
    is_float, hides_limits = dtype.kind in "fc", op.hides_limits and dtype.kind in "iu"
    is_product = op.is_product and dtype == np.float32
    # Without debug=True only a complex number divided by 0 ends a thread.
    fast = kernel.is_fast and isinstance(node.op, ast.Div) and dtype == np.float32
    divides = op.divides and (dtype.kind == "c" or (kernel.is_debugged and not fast))

    def run(machine: Machine, left: Value, right: Value) -> Value:
        if is_float and machine.counts_flops:
            _note_flops(machine, node, dtype, left, right)
        if left.dtype is not dtype:
            left = left.astype(dtype)
        if right.dtype is not dtype:
            right = right.astype(dtype)
        if hides_limits:
            _meet_limits(machine, node, left, right)
        if divides:
            _end_where_zero(machine, right, node.lineno)
        if is_product and machine.products:
            return machine.products(compute, left, right)
        return compute(left, right)

    return run


def _meet_limits(
    machine: Machine, node: ast.BinOp | ast.AugAssign, left: Value, right: Value
) -> None:
    machine.meet_limit("wrap", node, left, _first_beyond(node.op, right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        machine.meet_limit("wrap", node.left, right, _first_beyond(node.op, left))


def _first_beyond(op: ast.operator, number: Value) -> Value:
    """The least number that `% number`, `// number`, `& number` or `>> number` changes in the way
    that a limit does; of a mask with gaps there is none worth looking at."""
    if isinstance(op, ast.RShift):
        return np.int64(1) << np.clip(number, 0, 62).astype(np.int64)
    return number + np.int64(1) if isinstance(op, ast.BitAnd) else number


def _end_where_zero(machine: Machine, divisor: Value, line: int) -> None:
    """Lanes that divide by 0 raise an exception where Numba compiles one in."""
    failed = machine.active.where(divisor == 0)
    if not failed.empty:
        machine.raise_exception("ZeroDivisionError (a number is divided by 0)", failed, line)


def _note_flops(
    machine: Machine, node: ast.BinOp | ast.AugAssign, dtype: np.dtype, left: Value, right: Value
) -> None:
    """Count a floating-point operation of each active lane; of complex numbers, several."""
    both_integers = left.dtype.kind in "iub" and right.dtype.kind in "iub"
    active, is_float64 = machine.active, dtype in DOUBLE
    per_operation = 1 if dtype.kind == "f" else BINARY[type(node.op)].complex_flops
    count = per_operation * active.lanes
    machine.observers.flops(node.lineno, active, count, is_float64, not both_integers)


def unary(typing: Typing, node: ast.UnaryOp) -> Callable[[Machine, Value], Value]:
    """`not`, a sign, or the opposite of each bit."""
    if isinstance(node.op, ast.Not):
        return lambda machine, operand: ~machine.truth(operand)
    dtype, compute = typing.operands[node], UNARY[type(node.op)].compute
    own = typing.types[node.operand]
    if isinstance(own, np.dtype) and own.kind in "iu":
        # Numba's compiler wraps in the operand's own type, and widens what comes of it.
        return lambda machine, operand: machine.convert(
            compute(machine.convert(operand, own)), dtype
        )
    return lambda machine, operand: compute(machine.convert(operand, dtype))


# --- Comparisons of numbers and tuples, and `in` --------------------------------------------------


def compare(typing: Typing, node: ast.Compare) -> list[Operation]:
    """Each of the comparisons in a chain of them."""
    sides = [node.left, *node.comparators]
    tests = zip(node.ops, sides, node.comparators, strict=False)
    return [_test(typing, node, op, left, right) for op, left, right in tests]


def _test(
    typing: Typing, node: ast.Compare, op: ast.cmpop, left: ast.expr, right: ast.expr
) -> Operation:
    kind, kinds = type(op), (typing.types[left], typing.types[right])
    if isinstance(op, ast.In | ast.NotIn):
        return partial(_contains, isinstance(op, ast.In))
    if isinstance(op, ast.Is | ast.IsNot):
        return partial(_identical, isinstance(op, ast.Is))
    if isinstance(kinds[0], T.TupleType):
        return partial(_compare_tuples, node, kind)
    is_complex = any(map(T.is_complex, kinds))

    def test(machine: Machine, one: Value, other: Value) -> Value:
        if machine.notes_limits and not is_complex:
            machine.meet_limit("test", right, one, other, kind)
        return _compare_numbers(kind, one, other)

    return test


def _compare_numbers(op: type[ast.cmpop], left: Value, right: Value) -> Value:
    if left.dtype is not right.dtype and (left.dtype.kind in "fc" or right.dtype.kind in "fc"):
        common = np.promote_types(left.dtype, right.dtype)
        left, right = left.astype(common), right.astype(common)
    return COMPARE[op](left, right)


def _contains(wanted: bool, machine: Machine, item: Value, items: tuple[Value, ...]) -> Value:
    found: Value = np.False_
    machine.steps.spend(len(items) // 8, machine.line)
    for value in items:
        found = found | (item == value)
    return found if wanted else ~found


def _identical(wanted: bool, machine: Machine, left: Any, right: Any) -> Value:
    """`is` of None, or of members of enumerations."""
    if left is None or right is None:
        return np.bool_((left is right) == wanted)
    return _compare_numbers(ast.Eq if wanted else ast.NotEq, left, right)


def _compare_tuples(
    node: ast.Compare,
    op: type[ast.cmpop],
    machine: Machine,
    left: tuple[Any, ...],
    right: tuple[Any, ...],
) -> Value:
    """As Python has it: the first items that differ decide, then the lengths."""
    machine.steps.spend(len(left) // 8, machine.line)
    result: Value = np.bool_(COMPARE[op](len(left), len(right)))
    orders = op not in (ast.Eq, ast.NotEq)
    if orders or len(left) == len(right):
        for one, other in list(zip(left, right, strict=False))[::-1]:
            same = _compare_numbers(ast.Eq, one, other)
            decided = _compare_numbers(_STRICTLY.get(op, op), one, other)
            result = np.where(same, result, decided)[()]
    if orders and machine.typing.shapes:
        _check_bounds_test(machine, node, op in (ast.Lt, ast.LtE), left, right, result)
    return result


_STRICTLY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}


def _check_bounds_test(
    machine: Machine,
    node: ast.Compare,
    below: bool,
    indices: tuple[Any, ...],
    shape: tuple[Any, ...],
    truth: Value,
) -> None:
    """Notice lanes that a comparison of indices with a shape lets through from outside."""
    if node.left in machine.typing.shapes:
        indices, shape, below = shape, indices, not below
    inside: Value = np.True_
    for index, length in zip(indices, shape, strict=False):
        inside = inside & (index < length)
    passed = machine.active.where((truth if below else ~truth) & ~inside)
    if not passed.empty:
        machine.observers.not_below(ast.unparse(node)[:60], passed, node.lineno)
