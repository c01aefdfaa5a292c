"""Variables: giving one a value for the active lanes, and reading it where lanes have set it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.arithmetic import chosen, one_view, operate
from course_lib.emulator.machine.events import Frame
from course_lib.emulator.machine.expressions import element, read_element
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.records import Field, copy_array, copy_record
from course_lib.emulator.state.indices import field_of
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView, poison
from course_lib.wording.sentences import say


def set_variable(machine: Machine, name: str, value: Any) -> None:
    """Give a variable a value for the active lanes; the others keep theirs."""
    frame, active = machine.frame, machine.active
    old = frame.variables.get(name)
    # Where every lane that could read the old value gets the new one, nothing is merged.
    replaces_all = active is frame.live or active is frame.assigned_under.get(name)
    merges = isinstance(value, np.ndarray | np.generic | tuple | ArrayView)
    if old is None or replaces_all or not merges:
        frame.variables[name] = value
        if old is None:
            frame.assigned_under[name] = active
    else:
        frame.variables[name] = merged(machine, value, old)
        frame.assigned_under.pop(name, None)
    known = frame.defined.get(name)
    if known is not active:
        frame.defined[name] = active if known is None else known.union(active)


def merged(machine: Machine, new: Any, old: Any) -> Any:
    """`new` for the active lanes and `old` for the others; of a tuple, item by item."""
    if isinstance(new, tuple):
        if not isinstance(old, tuple) or len(new) != len(old):
            return new
        machine.steps.spend(len(new) // 8, machine.line)
        return tuple(merged(machine, one, other) for one, other in zip(new, old, strict=True))
    if isinstance(new, np.ndarray | np.generic) and isinstance(old, np.ndarray | np.generic):
        return np.where(_active_array(machine), new, old)
    if isinstance(new, ArrayView) and isinstance(old, ArrayView):
        return one_view(_active_array(machine), new, old, machine.line)
    return new


def _active_array(machine: Machine) -> np.ndarray | np.bool_:
    return np.True_ if machine.active.array is None else machine.active.array


def read_name(machine: Machine, node: ast.Name) -> Any:
    """The value of a variable, where it has one, of this function or of one around it."""
    frame: Frame | None = machine.frame
    while frame is not None and node.id not in frame.variables:
        own = frame.typing.levels or node.id in frame.typing.own
        frame = None if own else frame.parent
    if frame is None:
        return _without_value(machine, node)
    value = frame.variables[node.id]
    if node in machine.typing.uncertain:
        value = _where_defined(machine, frame, node, value)
    return machine.convert(value, machine.typing.types[node])


def _without_value(machine: Machine, node: ast.Name) -> Any:
    """A name that no lane has set: a module, a function, or a variable set on other paths."""
    kind = machine.typing.types[node]
    if isinstance(kind, T.Static):
        return None  # the typing knows what it is
    value = _undefined(machine, node, kind, machine.active)
    if value is None:
        raise rejection(
            "uninitialised-read", say("{name} has no value here yet.", name=node.id), node
        )
    return value


def _undefined(machine: Machine, node: ast.Name, kind: T.Type, lanes: Mask) -> Any:
    """The value of a variable for lanes that never set it."""
    if isinstance(kind, T.TupleType):
        return tuple(_undefined(machine, node, item, lanes) for item in kind.items)
    if isinstance(kind, T.VectorType):
        return (_undefined(machine, node, kind.dtype, lanes),) * kind.size
    machine.observers.undefined(node.id, lanes, node.lineno)
    if not isinstance(kind, np.dtype):
        return None
    instead = machine.instead
    value = instead.value(node.id, node.lineno, kind, machine.space) if instead else None
    return poison(kind) if value is None else value


def _where_defined(machine: Machine, frame: Frame, node: ast.Name, value: Any) -> Any:
    defined = frame.defined.get(node.id)
    undefined = machine.nobody if defined is None else machine.active.without(defined)
    if undefined.empty:
        return value
    lacking = _undefined(machine, node, machine.typing.types[node], undefined)
    if isinstance(value, ArrayView) or lacking is None:
        return value
    return chosen(undefined.full_array, lacking, value, node.lineno)


# --- Assignments: to names, fields, elements and parts of arrays, and to tuples of them -----------


def assign(machine: Machine, node: ast.Assign) -> None:
    value = machine.evaluate(node.value)
    for target in node.targets:
        bind(machine, target, value)


def annotated_assign(machine: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bind(machine, node.target, machine.evaluate(node.value))


def augmented_assign(machine: Machine, node: ast.AugAssign) -> None:
    if node.target in machine.frame.typing.fields:
        _update_field(machine, node, node.target)  # type: ignore[arg-type]
    elif isinstance(node.target, ast.Subscript):
        view, indices = element(machine, node.target, "load")
        current = _old_value(machine, node.target, view, indices)
        machine.store(view, indices, operate(machine, node, current, machine.evaluate(node.value)))
    else:
        current = machine.evaluate(node.target)
        result = operate(machine, node, current, machine.evaluate(node.value))
        assert isinstance(node.target, ast.Name)  # inference has refused the others
        set_variable(machine, node.target.id, result)


def _old_value(
    machine: Machine, target: ast.Subscript, view: ArrayView, indices: list[Value]
) -> Value:
    """What `target += …` adds to: read before the right-hand side is worked out."""
    settled = machine.frame.settled
    return settled[target] if target in settled else machine.load(view, indices)


def named_expression(machine: Machine, node: ast.NamedExpr) -> Any:
    value = machine.evaluate(node.value)
    set_variable(machine, node.target.id, value)
    return value


def bind(machine: Machine, target: ast.expr, value: Any) -> None:
    """Give `value` to a name, an element, or a tuple of them."""
    if isinstance(target, ast.Name):
        set_variable(machine, target.id, value)
    elif target in machine.frame.typing.fields:
        _store_field(machine, target, value)  # type: ignore[arg-type]
    elif isinstance(target, ast.Subscript):
        view, indices = element(machine, target, "store")
        parts = machine.frame.typing.parts
        if view.allocation.dtype.names:
            copy_record(machine, read_element(machine, view, indices, "store"), value)
        elif parts and target in parts:
            _fill(machine, target, view, indices, value)
        else:
            machine.store(view, indices, value)
    else:
        targets: list[ast.expr] = target.elts  # type: ignore[attr-defined]
        unpacks = isinstance(value, ArrayView)
        items = _unpacked(machine, value, len(targets)) if unpacks else value
        for each, item in zip(targets, items, strict=True):
            bind(machine, each, item)


def _unpacked(machine: Machine, view: ArrayView, count: int) -> list[Any]:
    """The items of an array, all before any is stored; so many, or there is a ValueError."""
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
        copy_array(machine, view, value)
    elif isinstance(value, ArrayView):
        copy_record(machine, view, value)
    else:
        machine.store(view, [], value)


def _update_field(machine: Machine, node: ast.AugAssign, target: Field) -> None:
    """`a[i].x += …`: the record is looked up once, as in Python."""
    view = _field_to_write(machine, target)
    settled = machine.frame.settled
    current = settled[target] if target in settled else machine.load(view, [])
    machine.store(view, [], operate(machine, node, current, machine.evaluate(node.value)))


def _field_to_write(machine: Machine, node: Field) -> ArrayView:
    """The field that is written: a record outside of its array is told as a store there."""
    owner = node.value
    is_element = isinstance(owner, ast.Subscript) and owner not in machine.typing.fields
    if is_element and isinstance(machine.typing.types[owner.value], T.ArrayType):  # type: ignore[attr-defined]
        view, indices = element(machine, owner, "store")  # type: ignore[arg-type]
        record = machine.unit.part(view, indices, machine.active, machine.line, "store")[0]
    else:
        record = machine.evaluate(owner)
    return field_of(record, machine.typing.fields[node])
