"""What a machine does with records: a record is a reference to its bytes, copied field by field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.indices import field_of
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView

Field = ast.Attribute | ast.Subscript


def read_field(machine: Machine, node: Field) -> Any:
    """The value of a field; of an array's records, or of an inner record, a view of it."""
    view = field_of(machine.evaluate(node.value), machine.typing.fields[node])
    return machine.load(view, []) if isinstance(machine.typing.types[node], np.dtype) else view


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
