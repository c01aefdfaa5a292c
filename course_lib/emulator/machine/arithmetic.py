"""Values of which each lane takes its own: one of two, or none that means anything."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.operators import (
    COMPARISONS,
    COMPLEX_FLOPS,
    DOUBLE,
    OPERATORS,
    PRODUCTS,
    UNARY,
    WRAPS,
)
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView, poison


def chosen(truth: Value, yes: Any, no: Any, line: int) -> Any:
    """`yes` for the lanes where `truth` holds, `no` for the others; of tuples, item by item."""
    if yes is None or no is None:  # of arrays: what no lane has chosen
        return no if yes is None else yes
    if isinstance(yes, tuple):
        return tuple(chosen(truth, one, other, line) for one, other in zip(yes, no, strict=True))
    if isinstance(yes, ArrayView):
        return one_view(truth, yes, no, line)
    return np.where(truth, yes, no)


def one_view(truth: Value, yes: ArrayView, no: ArrayView, line: int) -> ArrayView:
    """The part of an array that each lane has chosen: of one and the same array."""
    if yes is no:
        return yes
    if yes.allocation is not no.allocation or yes.strides != no.strides:
        message = "Threads of one launch choose between different arrays here."
        raise rejection("unsupported", message, line, "Choose between elements instead.")
    lengths = (
        one if one is other else np.where(truth, one, other)
        for one, other in zip(yes.shape, no.shape, strict=True)
    )
    inside = None
    if yes.inside is not None or no.inside is not None:
        held = [np.True_ if each.inside is None else each.inside.full_array for each in (yes, no)]
        space = (yes.inside or no.inside).space  # type: ignore[union-attr]
        inside = Mask.of(space, np.where(truth, *held))
    offset = np.where(truth, yes.offset, no.offset)
    return replace(yes, shape=tuple(lengths), offset=offset, inside=inside)


def poison_of_type(kind: T.Type) -> Any:
    if isinstance(kind, T.TupleType):
        return tuple(poison_of_type(item) for item in kind.items)
    if isinstance(kind, T.VectorType):
        return (poison(kind.dtype),) * kind.size
    return poison(kind) if isinstance(kind, np.dtype) else None


# --- Arithmetic on lanes: the operators, the floating-point operations that they count as ---------


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


# --- Comparisons on lanes: of numbers, of tuples, and with what stands in a tuple -----------------


def compare(machine: Machine, node: ast.Compare) -> Value:
    left = machine.evaluate(node.left)
    result: Value = np.True_
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = machine.evaluate(comparator)
        if isinstance(left, tuple) and type(op) in COMPARISONS:
            truth = _compare_tuples(machine, op, left, right)
            if machine.typing.shapes:
                _check_bounds_test(machine, node, op, left, right, truth)
        else:
            truth = compare_two(machine, op, left, right)
            if type(op) in COMPARISONS and "c" not in (left.dtype.kind, right.dtype.kind):
                machine.meet_limit("test", comparator, left, right, type(op))
        result = result & truth
        left = right
    return result


def _compare_tuples(
    machine: Machine, op: ast.cmpop, left: tuple[Any, ...], right: tuple[Any, ...]
) -> Value:
    """As Python has it: the first items that differ decide, then the lengths."""
    machine.steps.spend(len(left) // 8, machine.line)
    result: Value = np.bool_(COMPARISONS[type(op)](len(left), len(right)))
    if isinstance(op, ast.Eq | ast.NotEq) and len(left) != len(right):
        return result
    for one, other in list(zip(left, right, strict=False))[::-1]:
        same = compare_two(machine, ast.Eq(), one, other)
        decided = compare_two(machine, _STRICTLY.get(type(op), op), one, other)
        result = np.where(same, result, decided)[()]
    return result


def _check_bounds_test(
    machine: Machine,
    node: ast.Compare,
    op: ast.cmpop,
    left: tuple[Any, ...],
    right: tuple[Any, ...],
    truth: Value,
) -> None:
    """Notice lanes that a comparison of indices with a shape lets through from outside."""
    if isinstance(op, ast.Eq | ast.NotEq):
        return
    indices, shape, below = left, right, isinstance(op, ast.Lt | ast.LtE)
    if node.left in machine.typing.shapes:
        indices, shape, below = right, left, not below
    inside: Value = np.True_
    for index, length in zip(indices, shape, strict=False):
        inside = inside & (index < length)
    passed = machine.active.where((truth if below else ~truth) & ~inside)
    if not passed.empty:
        machine.observers.not_below(ast.unparse(node)[:60], passed, node.lineno)


def compare_two(machine: Machine, op: ast.cmpop, left: Any, right: Any) -> Value:
    """One comparison of two numbers; or with None, a member of an enumeration, a tuple's items."""
    if isinstance(op, ast.Is | ast.IsNot):
        if left is None or right is None:
            same = left is None and right is None
            return np.bool_(same == isinstance(op, ast.Is))
        op = ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()  # members of enumerations
    if isinstance(op, ast.In | ast.NotIn):
        found: Value = np.False_
        machine.steps.spend(len(right) // 8, machine.line)
        for item in right:
            found = found | (left == item)
        return found if isinstance(op, ast.In) else ~found
    if left.dtype.kind in "fc" or right.dtype.kind in "fc":
        common = np.promote_types(left.dtype, right.dtype)
        left, right = machine.convert(left, common), machine.convert(right, common)
    result: Value = COMPARISONS[type(op)](left, right)
    return result


_STRICTLY = {ast.LtE: ast.Lt(), ast.GtE: ast.Gt()}
