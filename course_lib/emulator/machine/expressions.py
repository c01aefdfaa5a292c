"""What stands in square brackets: an element or a part of an array, an item of a tuple."""

from __future__ import annotations

import ast
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH_OF_CALLS
from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, Cast, Intrinsic
from course_lib.emulator.inference.typings import Slot, Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.emulator.machine.arithmetic import chosen, poison_of_type
from course_lib.emulator.machine.events import Frame
from course_lib.emulator.machine.machine import Machine, Prepare, Prepared
from course_lib.emulator.machine.records import read_field
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import Allocation, ArrayView, contiguous_strides
from course_lib.wording.sentences import say


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


# --- Calls: of casts, of functions that the emulator knows, of device functions and closures ------


def call(machine: Machine, node: ast.Call) -> Any:
    target = machine.typing.calls[node]
    arguments = arguments_of(machine, node)
    if isinstance(target, Cast):
        if target.dtype.kind in "iu" and target.dtype.itemsize < 4:
            highest = np.int64(np.iinfo(target.dtype).max)
            machine.meet_limit("cast", node, arguments[0], highest + 1)
        return machine.convert(arguments[0], target.dtype)
    if isinstance(target, Intrinsic):
        return target.run(machine, node, arguments)
    try:
        next(call_function(machine, target, arguments))
    except StopIteration as end:
        return end.value
    raise AssertionError("a barrier where the typing saw none")


def arguments_of(machine: Machine, node: ast.Call) -> list[Any]:
    """The values of a call's arguments, in the order of the parameters."""
    values = [machine.evaluate(argument) for argument in machine.typing.arguments_of(node)]
    slots = machine.typing.slots.get(node)
    if slots is None:
        return values
    values += [machine.evaluate(each.value) for each in node.keywords]
    return [_from_slot(values, slot) for slot in slots]


def call_function(
    machine: Machine, typing: Typing, arguments: Sequence[Any]
) -> Generator[int, None, Any]:
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
    """How deep a call lies of a function that calls itself; a budget bounds that, too."""
    depth = machine.frame.depth + typing.levels
    if depth > MAX_DEPTH_OF_CALLS:
        message = say(
            "{kernel} calls itself more than {most} times in a row here.",
            kernel=typing.kernel.name,
            most=MAX_DEPTH_OF_CALLS // typing.levels,
        )
        hint = "A loop has no such bound. On a GPU the stack of a thread has one, too."
        raise rejection("unsupported", message, machine.line, hint)
    return depth


def _from_slot(values: Sequence[Any], slot: Slot | tuple[Slot, ...]) -> Any:
    if isinstance(slot, tuple):
        return tuple(_from_slot(values, each) for each in slot)
    if slot.argument is None:
        return slot.default
    value = values[slot.argument]
    return value if slot.item is None else value[slot.item]


# --- The other expressions: constants and attributes, `and`, `or`, `a if c else b`, tuples --------


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
