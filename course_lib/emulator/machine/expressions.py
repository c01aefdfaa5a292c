"""Evaluates expressions: each becomes a function of the machine, made once and called many times.

An expression in a loop is evaluated over and over, and its types never change. What they decide is
decided when the function is made; only what depends on the lanes is left for the run.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import ATTRIBUTES, Cast, Intrinsic
from course_lib.emulator.language.names import DeviceArray, Reference
from course_lib.emulator.language.typings import Slot, Typing
from course_lib.emulator.machine.arithmetic import binary, compare, unary
from course_lib.emulator.machine.choice import Alternatives, chooser
from course_lib.emulator.machine.machine import Machine, Prepared
from course_lib.emulator.machine.variables import (
    call_function,
    chosen,
    poison_of_type,
    read_name,
    set_variable,
)
from course_lib.emulator.state.indices import Fault, field_of
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import Allocation, ArrayView, contiguous_strides

# What finds the array and the indices of an element, to "load" from or to "store" into.
Place = Callable[[Machine, str], tuple[ArrayView, list[Any]]]


def prepared(typing: Typing, node: ast.expr) -> Prepared:
    """The function that evaluates an expression; it is made once."""
    run: Prepared | None = typing.prepared.get(node)
    if run is None:
        other = typing.rewritten.get(node)
        run = prepared(typing, other) if other else _known(typing, node)
        run = run or _KINDS[type(node)](typing, node)
        typing.prepared[node] = run = _settled(node, run) if node in typing.taken_apart else run
    return run


def _settled(node: ast.expr, run: Prepared) -> Prepared:
    """The value that was computed before the statement, if it was: see `settle`."""

    def settled_or_run(machine: Machine) -> Any:
        settled = machine.frame.settled
        return settled[node] if node in settled else run(machine)

    return settled_or_run


def _known(typing: Typing, node: ast.expr) -> Prepared | None:
    """A function that returns a value known at compile time."""
    value = typing.constants.get(node)
    if isinstance(value, np.ndarray):
        return lambda machine: _array_constant(machine, value)
    if isinstance(value, DeviceArray):
        return lambda machine: machine.captured[value]
    return None if value is None else lambda machine: value


def _array_constant(machine: Machine, array: np.ndarray) -> ArrayView:
    """An array from outside the kernel, as constant memory."""
    if id(array) not in machine.constant_views:
        flat = np.ascontiguousarray(array).reshape(-1)
        allocation = Allocation(
            "constant", "constant", array.shape, array.dtype, flat, 0, writable=False
        )
        lengths = tuple(np.int64(length) for length in array.shape)
        view = ArrayView("constant", allocation, lengths, contiguous_strides(array.shape))
        machine.constant_views[id(array)] = view
    return machine.constant_views[id(array)]


def _nothing(machine: Machine) -> None:
    """The value of what the typing knows by itself: a module, a function, None."""


# --- Names, attributes, tuples, conditional expressions -------------------------------------------


def _constant(typing: Typing, node: ast.Constant) -> Prepared:
    return lambda machine: node.value


def _name(typing: Typing, node: ast.Name) -> Prepared:
    kind, name = typing.types[node], node.id
    if node in typing.uncertain or not isinstance(kind, np.dtype | T.ArrayType):
        return lambda machine: read_name(machine, node)

    def read_array(machine: Machine) -> Any:
        variables = machine.frame.variables
        return variables[name] if name in variables else read_name(machine, node)

    def read_number(machine: Machine) -> Any:
        variables = machine.frame.variables
        value = variables[name] if name in variables else read_name(machine, node)
        return value if value.dtype is kind else machine.convert(value, kind)

    return read_number if isinstance(kind, np.dtype) else read_array


def _attribute(typing: Typing, node: ast.Attribute) -> Prepared:
    """A field of a record, a property of an array or a number, a register such as threadIdx.x."""
    if node in typing.fields:
        return _field(typing, node)
    owner, name = typing.types[node.value], node.attr
    if isinstance(owner, T.Static):
        path = owner.value.attribute(name).path if isinstance(owner.value, Reference) else ""
        return ATTRIBUTES[path].read if path in ATTRIBUTES else _nothing
    value = prepared(typing, node.value)
    if isinstance(owner, T.ArrayType):
        read = _OF_ARRAYS.get(name, _nothing)
        return lambda machine: read(value(machine))
    if isinstance(owner, T.TupleType | T.VectorType):
        place = owner.fields.index(name)
        return lambda machine: value(machine)[place]
    if isinstance(owner, np.dtype):  # a part of a complex number, or of any other
        return lambda machine: getattr(value(machine), name)
    return _nothing


_OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda view: view.shape,
    "size": lambda view: view.size,
    "nbytes": lambda view: view.size * np.int64(view.allocation.dtype.itemsize),
    "strides": lambda view: tuple(np.int64(n * view.allocation.spacing) for n in view.strides),
    "T": lambda view: view.transposed,
    "flat": lambda view: view.flattened,
}


def _field(typing: Typing, node: ast.Attribute | ast.Subscript) -> Prepared:
    """The value of a field; of an array's records, or of an inner record, a view of it."""
    record, name = prepared(typing, node.value), typing.fields[node]
    if isinstance(typing.types[node], np.dtype):
        return lambda machine: machine.load(field_of(record(machine), name), [])
    return lambda machine: field_of(record(machine), name)


def _tuple(typing: Typing, node: ast.Tuple) -> Prepared:
    items = [prepared(typing, item) for item in node.elts]
    return lambda machine: tuple(item(machine) for item in items)


def _boolean(typing: Typing, node: ast.BoolOp) -> Prepared:
    dtype, is_and = typing.types[node], isinstance(node.op, ast.And)
    first = prepared(typing, node.values[0])
    others = [_where_needed(typing, operand) for operand in node.values[1:]]

    def run(machine: Machine) -> Any:
        result: Value = machine.convert(first(machine), dtype)
        for other in others:
            truth = machine.truth(result)
            undecided = truth if is_and else ~truth
            if np.ndim(undecided) == 0 and not undecided:
                return result
            value = machine.convert(other(machine, undecided), dtype)
            if value is not None:
                result = np.where(undecided, value, result) if np.ndim(undecided) else value
        return result

    return run


def _conditional(typing: Typing, node: ast.IfExp) -> Prepared:
    dtype, decided = typing.types[node], typing.constants.get(node.test)
    if decided is not None:  # the other side may have no types
        side = prepared(typing, node.body if decided else node.orelse)
        return lambda machine: machine.convert(side(machine), dtype)
    test, sides = prepared(typing, node.test), (node.body, node.orelse)
    body, orelse = (prepared(typing, side) for side in sides)
    body_where, orelse_where = (_where_needed(typing, side) for side in sides)

    def run(machine: Machine) -> Any:
        truth = machine.truth(test(machine))
        if np.ndim(truth) == 0:
            return machine.convert((body if truth else orelse)(machine), dtype)
        if isinstance(dtype, T.TupleType):
            machine.steps.spend(dtype.leaves // 4, machine.line)
        yes = machine.convert(body_where(machine, truth), dtype)
        no = machine.convert(orelse_where(machine, ~truth), dtype)
        return chosen(truth, yes, no, node.lineno)

    return run


def _where_needed(typing: Typing, node: ast.expr) -> Callable[[Machine, Value], Any]:
    """An operand for the lanes that need it: others must not touch memory."""
    evaluate, pure, kind = prepared(typing, node), node in typing.pure, typing.types[node]

    def run(machine: Machine, needed: Value) -> Any:
        if pure or np.ndim(needed) == 0:
            return evaluate(machine)
        before = machine.active
        machine.active = before.where(needed)
        value = poison_of_type(kind) if machine.active.empty else evaluate(machine)
        machine.active = machine.still_running(before)
        return value

    return run


def _named(typing: Typing, node: ast.NamedExpr) -> Prepared:
    evaluate = prepared(typing, node.value)

    def run(machine: Machine) -> Any:
        value = evaluate(machine)
        set_variable(machine, node.target.id, value)
        return value

    return run


# --- Operators (arithmetic.py computes them) ------------------------------------------------------


def _binary(typing: Typing, node: ast.BinOp) -> Prepared:
    left, right = prepared(typing, node.left), prepared(typing, node.right)
    if node not in typing.operands:
        return lambda machine: left(machine) + right(machine)  # of tuples
    operate = binary(typing, node)
    return lambda machine: operate(machine, left(machine), right(machine))


def _unary(typing: Typing, node: ast.UnaryOp) -> Prepared:
    operand, operate = prepared(typing, node.operand), unary(typing, node)
    return lambda machine: operate(machine, operand(machine))


def _compare(typing: Typing, node: ast.Compare) -> Prepared:
    first, *others = (prepared(typing, comparator) for comparator in (node.left, *node.comparators))
    tests = compare(typing, node)
    if len(tests) == 1:
        (test,), (other,) = tests, others
        return lambda machine: test(machine, first(machine), other(machine))

    def run(machine: Machine) -> Value:
        left: Any = first(machine)
        result: Value = np.True_
        for test, other in zip(tests, others, strict=True):
            right = other(machine)
            result = result & test(machine, left, right)
            left = right
        return result

    return run


# --- Subscripts: an element or a part of an array, an item of a tuple -----------------------------


def _subscript(typing: Typing, node: ast.Subscript) -> Prepared:
    if node in typing.fields:
        return _field(typing, node)
    if isinstance(typing.types[node.value], T.TupleType | T.VectorType):
        return _item(typing, node)
    is_part = isinstance(typing.types[node], T.ArrayType)
    if not is_part and _has_numbers(typing, node):
        array, indices = _parts(typing, node)
        return lambda machine: read_element(
            machine, array(machine), [index(machine) for index in indices]
        )
    place = place_of(typing, node)

    def run(machine: Machine) -> Any:
        view, items = place(machine, "load")
        if is_part:
            return machine.unit.part(view, items, machine.active, machine.line)[0]
        return read_element(machine, view, items)

    return run


def place_of(typing: Typing, node: ast.Subscript) -> Place:
    """The array and the indices that a subscript names: numbers, or slices of numbers."""
    known: Place | None = typing.places.get(node)
    if known is None:
        known = typing.places[node] = _place(typing, node)
    return known


def _place(typing: Typing, node: ast.Subscript) -> Place:
    array, indices = _parts(typing, node)
    if _has_numbers(typing, node):
        return lambda machine, kind: (array(machine), [index(machine) for index in indices])

    def run(machine: Machine, kind: str) -> tuple[ArrayView, list[Any]]:
        view: ArrayView = array(machine)
        items: list[Any] = []
        for index in indices:
            item = index(machine)
            items += item if isinstance(item, tuple) else [item]
        rest = [number for number, item in enumerate(items) if item is Ellipsis]
        for place in rest:
            items[place : place + 1] = [slice(None)] * (len(view.shape) + 1 - len(items))
        if node in typing.special:
            items = _special_indices(machine, node, view, items, kind)
        return view, items

    return run


def _parts(typing: Typing, node: ast.Subscript) -> tuple[Prepared, list[Prepared]]:
    """What evaluates the array, and each of the indices."""
    return prepared(typing, node.value), [_index(typing, index) for index in _written(node)]


def _has_numbers(typing: Typing, node: ast.Subscript) -> bool:
    """Whether all indices are simple numbers, one for an axis, none of them negative on purpose."""
    numbers = all(isinstance(typing.types.get(index), np.dtype) for index in _written(node))
    return numbers and node not in typing.special


def _written(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _index(typing: Typing, index: ast.expr) -> Prepared:
    if isinstance(index, ast.Constant) and index.value is Ellipsis:
        return lambda machine: Ellipsis
    if not isinstance(index, ast.Slice):
        return prepared(typing, index)
    bounds = [_bound(typing, bound) for bound in (index.lower, index.upper, index.step)]
    return lambda machine: slice(*(bound(machine) for bound in bounds))


def _bound(typing: Typing, bound: ast.expr | None) -> Prepared:
    """A bound of a slice; unlike an index it may be any number, of which the whole part counts."""
    kind = typing.types[bound] if bound is not None else None
    if bound is None or not isinstance(kind, np.dtype):
        return _nothing
    value = prepared(typing, bound)
    if kind.kind in "iu":
        return value
    return lambda machine: value(machine).astype(np.int64)


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
    return machine.unit.load(view, indices, machine.active, machine.line)


def _item(typing: Typing, node: ast.Subscript) -> Prepared:
    """An item of a tuple; lanes whose index is beyond it raise an IndexError, as in Numba."""
    owner, place = prepared(typing, node.value), prepared(typing, node.slice)

    def run(machine: Machine) -> Any:
        items, index = owner(machine), place(machine)
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

    return run


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


# --- Calls: casts, known functions, device functions and closures ---------------------------------


def _call(typing: Typing, node: ast.Call) -> Prepared:
    target = typing.calls[node]
    if isinstance(target, Alternatives):
        return chooser(typing, node, prepared)
    arguments = arguments_of(typing, node)
    if isinstance(target, Cast):
        return _cast(node, target.dtype, arguments)
    if isinstance(target, Intrinsic):
        run = target.run
        return lambda machine: run(machine, node, arguments(machine))

    def call(machine: Machine) -> Any:
        try:
            next(call_function(machine, target, arguments(machine)))
        except StopIteration as end:
            return end.value
        raise AssertionError("a barrier where the typing saw none")

    return call


def _cast(node: ast.Call, dtype: np.dtype, arguments: Prepared) -> Prepared:
    is_narrow = dtype.kind in "iu" and dtype.itemsize < 4
    beyond = np.int64(np.iinfo(dtype).max) + 1 if is_narrow else None

    def cast(machine: Machine) -> Any:
        (value,) = arguments(machine)
        if beyond is not None:
            machine.meet_limit("cast", node, value, beyond)
        return value if value.dtype is dtype else machine.convert(value, dtype)

    return cast


def arguments_of(typing: Typing, node: ast.Call) -> Callable[[Machine], list[Any]]:
    """The values of a call's arguments, in the order of the parameters."""
    slots = typing.slots.get(node)
    given = typing.arguments_of(node)
    if slots is None:
        arguments = [prepared(typing, argument) for argument in given]
        return lambda machine: [argument(machine) for argument in arguments]
    by_name = (keyword.value for keyword in node.keywords)
    places = [prepared(typing, argument) for argument in (*given, *by_name)]

    def run(machine: Machine) -> list[Any]:
        values = [place(machine) for place in places]
        return [_from_slot(values, slot) for slot in slots]

    return run


def _from_slot(values: Sequence[Any], slot: Slot | tuple[Slot, ...]) -> Any:
    if isinstance(slot, tuple):
        return tuple(_from_slot(values, inner_slot) for inner_slot in slot)
    if slot.argument is None:
        return slot.default
    value = values[slot.argument]
    return value if slot.item is None else value[slot.item]


def _starred(typing: Typing, node: ast.Starred) -> Prepared:
    """The tuple behind a `*`; arguments_of takes its items."""
    return prepared(typing, node.value)


_KINDS: dict[type[ast.expr], Callable[[Typing, Any], Prepared]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Starred: _starred,
    ast.Lambda: lambda typing, node: _nothing,
    ast.NamedExpr: _named,
}
