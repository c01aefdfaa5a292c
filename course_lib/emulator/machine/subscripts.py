"""What stands in square brackets: an element or a part of an array, an item of a tuple."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.choices import chosen
from course_lib.emulator.machine.machine import Machine, Prepare, Prepared
from course_lib.emulator.machine.records import read_field
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView


def subscript(machine: Machine, node: ast.Subscript) -> Any:
    if node in machine.typing.fields:
        return read_field(machine, node)
    owner = machine.evaluate(node.value)
    if isinstance(owner, tuple):
        return _item_of(machine, node, owner)
    items = index_items(machine, node.slice, owner)
    special = machine.frame.typing.special
    if special and node in special:
        items = _special_indices(machine, node, owner, items, "load")
    if isinstance(machine.typing.types[node], T.ArrayType):
        return machine.unit.part(owner, items, machine.active, machine.line)[0]
    return read_element(machine, owner, items)


def element(machine: Machine, node: ast.Subscript, kind: str) -> tuple[ArrayView, list[Value]]:
    """The array and the indices that a subscript names, to "load" from or to "store" into."""
    if not machine.frame.settled and (
        parts := element_parts(machine.typing, node, machine.prepared)
    ):
        array, indices = parts
        return array(machine), [index(machine) for index in indices]
    view = machine.evaluate(node.value)
    items = index_items(machine, node.slice, view)
    special = machine.frame.typing.special
    if special and node in special:
        items = _special_indices(machine, node, view, items, kind)
    return view, items


def element_parts(
    typing: Typing, node: ast.Subscript, prepare: Prepare
) -> tuple[Prepared, tuple[Prepared, ...]] | None:
    """What evaluates the array and each index of an element; None where it takes more than that."""
    if node not in typing.elements:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_plain = _is_plain(typing, node, items)
        typing.elements[node] = (
            (prepare(typing, node.value), tuple(prepare(typing, item) for item in items))
            if is_plain
            else None
        )
    result: tuple[Prepared, tuple[Prepared, ...]] | None = typing.elements[node]
    return result


def _is_plain(typing: Typing, node: ast.Subscript, items: Sequence[ast.expr]) -> bool:
    """Whether an array is indexed by a number for every axis, and nothing of that waits."""
    owner = typing.types.get(node.value)
    if not isinstance(owner, T.ArrayType) or owner.dtype.names or len(items) != owner.ndim:
        return False
    numbers = all(isinstance(typing.types.get(item), np.dtype) for item in items)
    return (
        numbers and node not in typing.special and not typing.waiting & {node, node.value, *items}
    )


def index_items(machine: Machine, index: ast.expr, view: ArrayView) -> list[Any]:
    """The indices of a subscript, one for each axis: numbers, or slices of numbers."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    items = [item for part in parts for item in _index_item(machine, part)]
    rest = [number for number, item in enumerate(items) if item is Ellipsis]
    for place in rest:
        items[place : place + 1] = [slice(None)] * (len(view.shape) + 1 - len(items))
    return items


def _index_item(machine: Machine, index: ast.expr) -> list[Any]:
    if isinstance(index, ast.Slice):
        bounds = (index.lower, index.upper, index.step)
        return [slice(*(None if b is None else machine.evaluate(b) for b in bounds))]
    if isinstance(index, ast.Constant) and index.value is Ellipsis:
        return [Ellipsis]
    value = machine.evaluate(index)
    return list(value) if isinstance(value, tuple) else [value]


def _special_indices(
    machine: Machine, node: ast.Subscript, view: ArrayView, items: list[Any], kind: str
) -> list[Any]:
    """The index of `.flat`; or indices, those negative on purpose counted from the end."""
    axes_on_purpose = machine.typing.special[node]
    if axes_on_purpose is None:  # an index of .flat never counts from the end
        return [items[0].astype(np.uint64)]
    counted = list(items)
    for axis in axes_on_purpose:
        item, length = items[axis], view.shape[axis]
        if -int(item) <= np.min(length):
            counted[axis] = length + np.int64(item)
            first = int(np.argmax(machine.active.full_array))
            fault = Fault("from-end", axis, int(item), int(np.min(length)), first)
            machine.unit.report_faults([fault], view.allocation, kind, node.lineno)
    return counted


def read_element(
    machine: Machine, view: ArrayView, indices: Sequence[Value], kind: str = "load"
) -> Any:
    """An element: a number, or a reference to a record, to "load" from or to "store" into."""
    if view.allocation.dtype.names:
        return machine.unit.part(view, indices, machine.active, machine.line, kind)[0]
    return machine.load(view, indices)


def _item_of(machine: Machine, node: ast.Subscript, items: tuple[Any, ...]) -> Any:
    """An item of a tuple; lanes whose index is beyond it raise an IndexError, as in Numba."""
    index = machine.evaluate(node.slice)
    count = len(items)
    if index.ndim == 0 and -count <= index < count:
        return items[int(index)]
    beyond = (index < -count) | (index >= count)
    bad = machine.active.where(beyond) if np.any(beyond) else machine.nobody
    if not bad.empty:
        name = ast.unparse(node.value)[:40]
        machine.observers.no_such_item(name, index, count, bad, node.lineno)
        machine.end(bad)
    return _tuple_item(machine, items, np.where(index < 0, index + count, index)[()])


def _tuple_item(machine: Machine, items: tuple[Any, ...], index: Value) -> Any:
    if np.ndim(index) == 0:
        return items[max(0, min(int(index), len(items) - 1))]
    if isinstance(items[0], tuple):
        return tuple(_tuple_item(machine, part, index) for part in zip(*items, strict=True))
    machine.steps.spend(len(items) // 8, machine.line)
    result = items[0]
    for number, item in enumerate(items[1:], 1):
        result = chosen(index == number, item, result, machine.line)
    return result
