"""The other expressions: constants and attributes, `and`, `or`, `a if c else b`, tuples."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import ATTRIBUTES
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.emulator.machine.choices import chosen, poison_of_type
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.records import read_field
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import Allocation, ArrayView, contiguous_strides


def constant(machine: Machine, node: ast.Constant) -> Any:
    return node.value


def attribute(machine: Machine, node: ast.Attribute) -> Any:
    if node in machine.typing.fields:
        return read_field(machine, node)
    owner = machine.typing.types[node.value]
    if isinstance(owner, T.ArrayType):
        return _array_attribute(machine.evaluate(node.value), node.attr)
    if isinstance(owner, T.TupleType | T.VectorType):
        return machine.evaluate(node.value)[owner.fields.index(node.attr)]
    if isinstance(owner, np.dtype):  # a part of a complex number, or of any other
        return getattr(machine.evaluate(node.value), node.attr)
    if isinstance(owner, T.Static) and isinstance(owner.value, Reference):
        register = ATTRIBUTES.get(owner.value.attribute(node.attr).path)
        if register is not None:
            return register.read(machine)
    return None


def _array_attribute(view: ArrayView, name: str) -> Any:
    match name:
        case "shape":
            return view.shape
        case "size":
            return view.size
        case "nbytes":
            return view.size * np.int64(view.allocation.dtype.itemsize)
        case "strides":
            spacing = view.allocation.spacing
            return tuple(np.int64(stride * spacing) for stride in view.strides)
        case "T":
            return view.transposed
        case "flat":
            return view.flattened
    return None


def boolean(machine: Machine, node: ast.BoolOp) -> Value:
    dtype = machine.typing.types[node]
    is_and = isinstance(node.op, ast.And)
    result: Value = machine.convert(machine.evaluate(node.values[0]), dtype)
    for operand in node.values[1:]:
        truth = machine.truth(result)
        undecided = truth if is_and else ~truth
        if np.ndim(undecided) == 0 and not undecided:
            return result
        value = machine.convert(_where_needed(machine, operand, undecided), dtype)
        if value is not None:
            result = np.where(undecided, value, result) if np.ndim(undecided) else value
    return result


def conditional(machine: Machine, node: ast.IfExp) -> Any:
    dtype = machine.typing.types[node]
    truth = machine.truth(machine.evaluate(node.test))
    if np.ndim(truth) == 0:
        return machine.convert(machine.evaluate(node.body if truth else node.orelse), dtype)
    if isinstance(dtype, T.TupleType):
        machine.steps.spend(dtype.leaves // 4, machine.line)
    body = machine.convert(_where_needed(machine, node.body, truth), dtype)
    orelse = machine.convert(_where_needed(machine, node.orelse, ~truth), dtype)
    return chosen(truth, body, orelse, node.lineno)


def _where_needed(machine: Machine, node: ast.expr, needed: Value) -> Any:
    """Evaluate an operand for the lanes that need it: others must not touch memory."""
    if np.ndim(needed) == 0 or node in machine.typing.pure:
        return machine.evaluate(node)
    before = machine.active
    machine.active = before.where(needed)
    value = (
        poison_of_type(machine.typing.types[node])
        if machine.active.empty
        else machine.evaluate(node)
    )
    machine.active = machine.still_running(before)
    return value


def tuple_expression(machine: Machine, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(machine.evaluate(item) for item in node.elts)


def starred(machine: Machine, node: ast.Starred) -> Any:
    """The tuple behind a `*`; arguments_of takes its items."""
    return machine.evaluate(node.value)


def function_value(machine: Machine, node: ast.expr) -> None:
    """A lambda: the typing knows what it is."""


def array_constant(machine: Machine, array: np.ndarray) -> ArrayView:
    """An array that stands in the kernel's surroundings, as constant memory."""
    if id(array) not in machine.constant_views:
        flat = np.ascontiguousarray(array).reshape(-1)
        allocation = Allocation(
            "constant", "constant", array.shape, array.dtype, flat, 0, writable=False
        )
        lengths = tuple(np.int64(length) for length in array.shape)
        view = ArrayView("constant", allocation, lengths, contiguous_strides(array.shape))
        machine.constant_views[id(array)] = view
    return machine.constant_views[id(array)]
