"""What a machine does with records: a record is a reference to its bytes, copied field by field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.state.fields import field_of
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView

if TYPE_CHECKING:
    from course_lib.emulator.machine.machine import Machine

Field = ast.Attribute | ast.Subscript


def read_field(machine: Machine, node: Field) -> Any:
    """The value of a field; of an array's records, or of an inner record, a view of it."""
    view = field_of(machine.evaluate(node.value), machine.typing.fields[node])
    return machine.load(view, []) if isinstance(machine.typing.types[node], np.dtype) else view


def store_field(machine: Machine, node: Field, value: Any) -> None:
    """Write a number, or the fields of another record, into a field."""
    view = _field_to_write(machine, node)
    if isinstance(value, ArrayView) and view.shape:
        copy_array(machine, view, value)
    elif isinstance(value, ArrayView):
        copy_record(machine, view, value)
    else:
        machine.store(view, [], value)


def update_field(machine: Machine, node: ast.AugAssign, target: Field) -> None:
    """`a[i].x += …`: the record is looked up once, as in Python."""
    view = _field_to_write(machine, target)
    settled = machine.frame.settled
    current = settled[target] if target in settled else machine.load(view, [])
    machine.store(view, [], machine.operate(node, current, machine.evaluate(node.value)))


def _field_to_write(machine: Machine, node: Field) -> ArrayView:
    """The field that is written: a record outside of its array is told as a store there."""
    owner = node.value
    is_element = isinstance(owner, ast.Subscript) and owner not in machine.typing.fields
    if is_element and isinstance(machine.typing.types[owner.value], T.ArrayType):  # type: ignore[attr-defined]
        view, indices = machine.element(owner, "store")  # type: ignore[arg-type]
        record = machine.unit.part(view, indices, machine.active, machine.line, "store")[0]
    else:
        record = machine.evaluate(owner)
    return field_of(record, machine.typing.fields[node])


def copy_array(machine: Machine, target: ArrayView, source: ArrayView) -> None:
    """As many elements as a field has, row after row, read before any is written."""
    places = [np.int64(place) for place in range(int(np.max(target.size)))]
    source, target = source.flattened, target.flattened
    values = []
    for place in places:
        machine.steps.spend(1, machine.line)
        values.append(machine.load(source, [place]))
    for place, value in zip(places, values, strict=True):
        machine.store(target, [place], value)


def copy_record(machine: Machine, target: ArrayView, source: ArrayView) -> None:
    """All fields of a record into another one, read before any is written."""
    values = [machine.load(*place) for place in _numbers_in(machine, source)]
    for place, value in zip(_numbers_in(machine, target), values, strict=True):
        machine.store(*place, value)


def _numbers_in(machine: Machine, record: ArrayView) -> Iterator[tuple[ArrayView, list[Value]]]:
    """Every number of a record: the field it stands in, and its indices there."""
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
