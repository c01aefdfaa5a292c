"""Variables: set for the active lanes, read, and kept apart for each call of a device function."""

import ast
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH_OF_CALLS
from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Frame
from course_lib.emulator.machine.machine import Machine, Pause
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
    value = machine.given.instead_of(node.id, node.lineno, kind, machine.space)
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


# --- Calls of device functions and closures -------------------------------------------------------


def call_function(
    machine: Machine, typing: Typing, arguments: Sequence[Any]
) -> Generator[Pause, None, Any]:
    """Call a device function or a closure for the active lanes; returns what it returns."""
    caller, entered, line = machine.frame, machine.active, machine.line
    variables = dict(zip(typing.kernel.parameters, arguments, strict=True))
    path = (*caller.path, line)
    depth = _deeper(machine, typing) if typing.levels else caller.depth
    machine.frame = Frame(typing, variables, entered, parent=caller, path=path, depth=depth)
    outside = machine.unit.moment
    machine.unit.moment = (*outside, line)
    yield from machine.block(typing.kernel.body)
    machine.unit.moment = outside
    result = machine.frame.result
    machine.frame, machine.active, machine.line = caller, entered, line
    if machine.ended is not machine.nobody:
        caller.live = caller.live.without(machine.ended)
        machine.active = entered.without(machine.ended)
    if result is None:
        return poison_of_type(typing.return_type)
    return machine.convert(result, typing.return_type)


def _deeper(machine: Machine, typing: Typing) -> int:
    """The depth of a call of a function that calls itself; a budget limits it."""
    depth = machine.frame.depth + typing.levels
    if depth > MAX_DEPTH_OF_CALLS:
        message = say(
            "{kernel} calls itself more than {most} levels deep here.",
            kernel=typing.kernel.name,
            most=MAX_DEPTH_OF_CALLS // typing.levels,
        )
        hint = "A loop has no such limit. On a GPU, a thread's stack is limited too."
        raise rejection("unsupported", message, machine.line, hint)
    return depth


# --- Values chosen lane by lane, and poison -------------------------------------------------------


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
        held = [np.True_ if view.inside is None else view.inside.full_array for view in (yes, no)]
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
