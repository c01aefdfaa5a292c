"""Variables: giving one a value for the active lanes, and reading it where lanes have set it."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.choices import chosen, one_view
from course_lib.emulator.machine.frames import Frame
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Mask
from course_lib.emulator.state.memory import ArrayView, poison
from course_lib.sentences import say


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
