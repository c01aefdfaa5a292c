"""Assignments: to names, fields, elements and parts of arrays, and to tuples of them."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.machine.arithmetic import Operation, binary
from course_lib.emulator.machine.expressions import place_of, read_element
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.variables import set_variable
from course_lib.emulator.state.indices import field_of
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView

Field = ast.Attribute | ast.Subscript


def assign(machine: Machine, node: ast.Assign) -> None:
    value = machine.evaluate(node.value)
    for target in node.targets:
        bind(machine, target, value)


def annotated_assign(machine: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bind(machine, node.target, machine.evaluate(node.value))


def augmented_assign(machine: Machine, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        set_variable(machine, target.id, _updated(machine, node, machine.evaluate(target)))
        return
    indices: list[Value] = []
    if target in machine.typing.fields:  # the record is looked up once, as in Python
        view = _field_to_write(machine, target)
    else:
        assert isinstance(target, ast.Subscript)  # inference has refused the others
        view, indices = place_of(machine.typing, target)(machine, "load")
    current = _old_value(machine, target, view, indices)
    machine.store(view, indices, _updated(machine, node, current))


def _old_value(machine: Machine, target: Field, view: ArrayView, indices: list[Value]) -> Value:
    """The value that `target += …` adds to: read before the right-hand side is evaluated."""
    settled = machine.frame.settled
    return settled[target] if target in settled else machine.load(view, indices)


def _updated(machine: Machine, node: ast.AugAssign, current: Value) -> Value:
    typing = machine.typing
    operate: Operation | None = typing.prepared.get(node)
    if operate is None:
        operate = typing.prepared[node] = binary(typing, node)
    return operate(machine, current, machine.evaluate(node.value))


def bind(machine: Machine, target: ast.expr, value: Any) -> None:
    """Give `value` to a name, an element, or a tuple of them."""
    if isinstance(target, ast.Name):
        set_variable(machine, target.id, value)
    elif target in machine.frame.typing.fields:
        _store_field(machine, target, value)  # type: ignore[arg-type]
    elif isinstance(target, ast.Subscript):
        view, indices = place_of(machine.typing, target)(machine, "store")
        parts = machine.frame.typing.parts
        if view.allocation.dtype.names:
            _copy_record(machine, read_element(machine, view, indices, "store"), value)
        elif parts and target in parts:
            _fill(machine, target, view, indices, value)
        else:
            machine.store(view, indices, value)
    else:
        targets: list[ast.expr] = target.elts  # type: ignore[attr-defined]
        unpacks = isinstance(value, ArrayView)
        items = _unpacked(machine, value, len(targets)) if unpacks else value
        for expression, item in zip(targets, items, strict=True):
            bind(machine, expression, item)


def _unpacked(machine: Machine, view: ArrayView, count: int) -> list[Any]:
    """The items of an array, all read before any is stored; a wrong number is a ValueError."""
    _of_one_length(machine, machine.line, view.shape[0], count, machine.active)
    return [machine.array_item(view, place) for place in range(count)]


def _fill(
    machine: Machine, node: ast.Subscript, view: ArrayView, items: Sequence[Any], value: Any
) -> None:
    """Write a number, or the items of a tuple, into a part of an array, element by element."""
    part, lanes = machine.unit.part(view, items, machine.active, machine.line, "store")
    lengths = [int(np.max(length)) for length in part.shape]
    if isinstance(value, tuple):
        lanes = _of_one_length(machine, node.lineno, part.shape[0], len(value), lanes)
        lengths = [len(value)]
    for place in np.ndindex(*lengths):
        inside: Value = np.True_
        for index, length in zip(place, part.shape, strict=True):
            inside = inside & (index < length)
        writing = lanes.where(inside)
        if not writing.empty:
            machine.spend(machine.statement or node)  # type: ignore[arg-type]
            indices = [np.int64(index) for index in place]
            new = value[place[0]] if isinstance(value, tuple) else value
            machine.unit.store(part, indices, new, writing, machine.line)


def _of_one_length(machine: Machine, line: int, length: Value, items: int, lanes: Mask) -> Mask:
    """The lanes whose part has so many items; the others raise a ValueError."""
    wrong = lanes.where(length != items)
    if not wrong.empty:
        what = f"ValueError ({items} values for a part of another length)"
        machine.observers.raised(what, wrong, line)
        machine.end(wrong)
    return lanes.without(wrong)


def _store_field(machine: Machine, node: Field, value: Any) -> None:
    """Write a number, or the fields of another record, into a field."""
    view = _field_to_write(machine, node)
    if isinstance(value, ArrayView) and view.shape:
        _copy_array(machine, view, value)
    elif isinstance(value, ArrayView):
        _copy_record(machine, view, value)
    else:
        machine.store(view, [], value)


def _field_to_write(machine: Machine, node: Field) -> ArrayView:
    """The field to write; a record outside of its array is reported as a store there."""
    owner = node.value
    is_element = isinstance(owner, ast.Subscript) and owner not in machine.typing.fields
    if is_element and isinstance(machine.typing.types[owner.value], T.ArrayType):  # type: ignore[attr-defined]
        view, indices = place_of(machine.typing, owner)(machine, "store")  # type: ignore[arg-type]
        record = machine.unit.part(view, indices, machine.active, machine.line, "store")[0]
    else:
        record = machine.evaluate(owner)
    return field_of(record, machine.typing.fields[node])


# --- Copies of records, field by field ------------------------------------------------------------


def _copy_array(machine: Machine, target: ArrayView, source: ArrayView) -> None:
    """As many elements as a field has, row after row, read before any is written."""
    places = [np.int64(place) for place in range(int(np.max(target.size)))]
    source, target = source.flattened, target.flattened
    values = []
    for place in places:
        machine.steps.spend(1, machine.line)
        values.append(machine.load(source, [place]))
    for place, value in zip(places, values, strict=True):
        machine.store(target, [place], value)


def _copy_record(machine: Machine, target: ArrayView, source: ArrayView) -> None:
    """All fields of a record into another one, read before any is written."""
    values = [machine.load(*place) for place in _numbers_in(machine, source)]
    for place, value in zip(_numbers_in(machine, target), values, strict=True):
        machine.store(*place, value)


def _numbers_in(machine: Machine, record: ArrayView) -> Iterator[tuple[ArrayView, list[Value]]]:
    """Every number of a record: its field, and its indices there."""
    for name in record.allocation.dtype.names or ():
        field = field_of(record, name)
        lengths = [int(np.max(length)) for length in field.shape]
        for place in np.ndindex(*lengths):
            machine.steps.spend(1, machine.line)
            indices: list[Value] = [np.int64(index) for index in place]
            if field.allocation.dtype.names:
                inner = machine.unit.part(field, indices, machine.active, machine.line)[0]
                yield from _numbers_in(machine, inner)
            else:
                yield field, indices
