"""Comparisons on lanes: of numbers, of tuples, and with what stands in a tuple."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.operators import COMPARISONS
from course_lib.emulator.state.lanes import Value


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
