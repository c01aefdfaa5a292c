"""Runs `choose`: what some blocks have in place of the usual value is worked out for them alone."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.functions.choice import Alternatives
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, Cast, Intrinsic
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import DeviceArray, Reference
from course_lib.emulator.machine.arithmetic import (
    binary,
    compare,
    compare_two,
    note_flops,
    operate,
    unary,
)
from course_lib.emulator.machine.events import Frame
from course_lib.emulator.machine.expressions import (
    array_constant,
    attribute,
    boolean,
    call,
    conditional,
    constant,
    element_parts,
    function_value,
    starred,
    subscript,
    tuple_expression,
)
from course_lib.emulator.machine.machine import Machine, Prepared
from course_lib.emulator.machine.operators import COMPARISONS, OPERATORS, PRODUCTS, WRAPS
from course_lib.emulator.machine.variables import named_expression, read_name
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, joint_shape


def chooser(
    typing: Typing, node: ast.Call, prepare: Callable[[Typing, ast.expr], Prepared]
) -> Prepared:
    """The function that evaluates a call of `choose`."""
    dtype = typing.types[node]
    usual = prepare(typing, node.args[0])
    numbers = [number.value for number in node.args[1::2]]  # type: ignore[attr-defined]
    others = [_evaluation(other, prepare(typing, other)) for other in node.args[2::2]]
    on_top = [_on_top(typing, node, other, prepare) for other in node.args[2::2]]

    def run(machine: Machine) -> Any:
        first, count = machine.space.first_block[0], machine.space.blocks[0]
        entered = machine.active
        runs = _running(entered, count)
        here = [
            (number - first, other, more)
            for number, other, more in zip(numbers, others, on_top, strict=True)
            if 0 <= number - first < count and runs[number - first]
        ]
        if not here:
            return machine.convert(usual(machine), dtype)
        chosen = [
            (place, machine.convert(other(machine, place), dtype))
            for place, other, more in here
            if more is None
        ]
        # Nor do those blocks load what they do not choose.
        if chosen:
            machine.active = entered.where(~_only([place for place, _ in chosen], count))
        value = machine.convert(usual(machine), dtype)
        machine.active = entered
        chosen += [
            (place, machine.convert(more(machine, place, value), dtype))
            for place, _, more in here
            if more is not None
        ]
        shape = joint_shape(value, *(other for _, other in chosen))
        mixed = np.empty((count, *shape[1:]), value.dtype)
        mixed[...] = value
        for place, other in chosen:
            mixed[place] = other[0] if other.ndim else other
        return mixed

    return run


Evaluation = Callable[[Machine, int], Value]  # of an alternative in the blocks of one z
OnTop = Callable[[Machine, int, Value], Value]  # the same, given the usual value of all blocks


def _evaluation(other: ast.expr, evaluate: Prepared) -> Evaluation:
    """How an alternative is worked out for the blocks of one z."""
    if isinstance(other, ast.Name | ast.Constant):  # there is nothing to work out
        return lambda machine, place: _row(evaluate(machine), place)
    if not _reads_memory(other):
        return lambda machine, place: _alone(machine, place, evaluate)

    def wide(machine: Machine, place: int) -> Value:
        """Loads go through a unit that knows all lanes only."""
        entered = machine.active
        machine.active = entered.where(_only(place, machine.space.blocks[0]))
        found: Value = _row(evaluate(machine), place)
        machine.active = entered
        return found

    return wide


def _on_top(
    typing: Typing,
    node: ast.Call,
    other: ast.expr,
    prepare: Callable[[Typing, ast.expr], Prepared],
) -> OnTop | None:
    """An alternative that adds a variable or a number to the usual value, or multiplies by it."""
    usual = node.args[0]
    while isinstance(usual, ast.Call) and typing.calls.get(usual) is typing.calls[node]:
        usual = usual.args[0]
    if not isinstance(other, ast.BinOp) or type(other.op) not in _OPERATIONS:
        return None
    by, operation = other.right, _OPERATIONS[type(other.op)]
    if not isinstance(by, ast.Name | ast.Constant) or ast.dump(other.left) != ast.dump(usual):
        return None
    dtype, evaluate = typing.types[other], prepare(typing, by)

    def run(machine: Machine, place: int, value: Value) -> Value:
        one = machine.convert(_row(value, place), dtype)
        two = machine.convert(_row(evaluate(machine), place), dtype)
        found: Value = operation(one, two)
        return found

    return run


_OPERATIONS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
}


def _only(places: int | Sequence[int], count: int) -> np.ndarray:
    """True in the blocks of these z alone."""
    rows = np.zeros((count, 1, 1, 1, 1, 1), bool)
    rows[places] = True
    return rows


def _reads_memory(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Call)
        or (isinstance(part, ast.Subscript) and not isinstance(part.value, ast.Attribute))
        for part in ast.walk(node)
    )


def _running(active: Mask, count: int) -> np.ndarray:
    """In which z of the blocks a lane is active."""
    if active.array is None:
        return np.ones(count, bool)
    rows = np.asarray(active.array.any(axis=(1, 2, 3, 4, 5)))
    return np.broadcast_to(rows, count)


def _alone(machine: Machine, place: int, evaluate: Prepared) -> Value:
    """The value of an expression in the blocks of one z."""
    space, active, frame = machine.space, machine.active, machine.frame
    first, blocks = space.first_block, space.blocks
    machine.space = LaneSpace(
        space.grid, (first[0] + place, *first[1:]), (1, *blocks[1:]), space.threads
    )
    machine.active = Mask(machine.space, _row(active.array, place))
    machine.frame = Frame(frame.typing, _Rows(frame.variables, place), machine.active, frame.parent)
    try:
        found: Value = evaluate(machine)
    finally:
        machine.space, machine.active, machine.frame = space, active, frame
    return found


def _row(value: Any, place: int) -> Any:
    """The part of a value that belongs to the blocks of one z."""
    if isinstance(value, np.ndarray) and value.ndim and len(value) > 1:
        return value[place : place + 1]
    return value


class _Rows(dict[str, Any]):
    """The variables of some blocks, each cut out when it is read."""

    def __init__(self, whole: dict[str, Any], place: int) -> None:
        super().__init__()
        self.whole, self.place = whole, place

    def __contains__(self, name: object) -> bool:
        return name in self.whole

    def __getitem__(self, name: str) -> Any:
        return _row(self.whole[name], self.place)


# --- Makes a function of the machine out of an expression, with all that its types say worked -----
# An expression in a loop is evaluated over and over, and the types never change: so each of the
# usual kinds is looked at once. Whatever is not among them is evaluated part by part, by
# `EXPRESSIONS`.


# Python's own operators do what NumPy's functions do, and faster where lanes have one number.
_FASTER = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def prepared(typing: Typing, node: ast.expr) -> Prepared:
    """The function that evaluates an expression; it is made once."""
    known = typing.prepared.get(node)
    if known is None:
        known = typing.prepared[node] = _prepare(typing, node)
    return known


def _prepare(typing: Typing, node: ast.expr) -> Prepared:
    value = typing.constants.get(node)
    if isinstance(value, np.ndarray):
        return lambda machine: array_constant(machine, value)
    if isinstance(value, DeviceArray):
        return lambda machine: machine.captured[value]
    if value is not None:
        return lambda machine: value
    if node in typing.rewritten:
        return prepared(typing, typing.rewritten[node])
    prepare = _KINDS.get(type(node))
    # The parts of what waits may have been worked out before; only the machine knows.
    made = prepare(typing, node) if prepare and node not in typing.waiting else None
    return made or (lambda machine: evaluate_slowly(machine, node))


def evaluate_slowly(machine: Machine, node: ast.expr) -> Any:
    """The value of an expression of a kind that is not prepared, part by part."""
    return EXPRESSIONS[type(node)](machine, node)


def _name(typing: Typing, node: ast.Name) -> Prepared | None:
    kind, name = typing.types[node], node.id
    if node in typing.uncertain or not isinstance(kind, np.dtype | T.ArrayType):
        return None

    def read_array(machine: Machine) -> Any:
        variables = machine.frame.variables
        return variables[name] if name in variables else read_name(machine, node)

    def read_number(machine: Machine) -> Any:
        variables = machine.frame.variables
        value = variables[name] if name in variables else read_name(machine, node)
        return value if value.dtype is kind else machine.convert(value, kind)

    return read_number if isinstance(kind, np.dtype) else read_array


def _register(typing: Typing, node: ast.Attribute) -> Prepared | None:
    """A special register, such as cuda.threadIdx.x."""
    owner = typing.types[node.value]
    if not isinstance(owner, T.Static) or not isinstance(owner.value, Reference):
        return None
    register = ATTRIBUTES.get(owner.value.attribute(node.attr).path)
    return register.read if register is not None else None


def _binary(typing: Typing, node: ast.BinOp) -> Prepared | None:
    dtype = typing.operands.get(node)
    if dtype is None:
        return None
    left, right = prepared(typing, node.left), prepared(typing, node.right)
    if type(node.op) in WRAPS or dtype.kind not in "iuf" or typing.kernel.is_debugged:
        return lambda machine: operate(machine, node, left(machine), right(machine))
    compute = _FASTER.get(type(node.op), OPERATORS[type(node.op)])
    is_float = dtype.kind == "f"
    is_product = dtype == np.float32 and isinstance(node.op, PRODUCTS)

    def run(machine: Machine) -> Any:
        one, other = left(machine), right(machine)
        if is_float and machine.counts_flops:
            note_flops(machine, node, dtype, one, other)
        if one.dtype is not dtype:
            one = one.astype(dtype)
        if other.dtype is not dtype:
            other = other.astype(dtype)
        if is_product and machine.products:
            return machine.products(compute, one, other)
        return compute(one, other)

    return run


def _compare(typing: Typing, node: ast.Compare) -> Prepared | None:
    """A comparison of two numbers."""
    sides = (node.left, *node.comparators)
    kinds = [typing.types.get(each) for each in sides]
    if len(sides) > 2 or not all(isinstance(each, np.dtype) for each in kinds):
        return None
    if type(node.ops[0]) not in COMPARISONS:
        return None
    if any(map(T.is_complex, kinds)):  # type: ignore[arg-type]
        return None
    op, comparator = node.ops[0], node.comparators[0]
    left, right = (prepared(typing, each) for each in sides)

    def run(machine: Machine) -> Any:
        one, other = left(machine), right(machine)
        truth = compare_two(machine, op, one, other)
        machine.meet_limit("test", comparator, one, other, type(op))
        return truth

    return run


def _element(typing: Typing, node: ast.Subscript) -> Prepared | None:
    """An element of an array, by an index for every axis."""
    parts = element_parts(typing, node, prepared)
    if parts is None:
        return None
    array, indices = parts

    def run(machine: Machine) -> Any:
        view = array(machine)
        return machine.load(view, [index(machine) for index in indices])

    return run


def _call(typing: Typing, node: ast.Call) -> Prepared | None:
    """A cast, or a function that the emulator knows."""
    target = typing.calls[node]
    if node in typing.slots:  # some of the arguments stand in a tuple behind a `*`
        return None
    if isinstance(target, Alternatives):
        return chooser(typing, node, prepared)
    arguments = [prepared(typing, argument) for argument in typing.arguments_of(node)]
    if isinstance(target, Intrinsic):
        run = target.run
        return lambda machine: run(machine, node, [each(machine) for each in arguments])
    if not isinstance(target, Cast) or (target.dtype.kind in "iu" and target.dtype.itemsize < 4):
        return None
    (argument,), dtype = arguments, target.dtype

    def cast(machine: Machine) -> Any:
        value = argument(machine)
        return value if value.dtype is dtype else machine.convert(value, dtype)

    return cast


_KINDS: dict[type[ast.expr], Callable[[Typing, Any], Prepared | None]] = {
    ast.Name: _name,
    ast.Attribute: _register,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.Subscript: _element,
    ast.Call: _call,
}
EXPRESSIONS: dict[type[ast.expr], Callable[[Machine, Any], Any]] = {
    ast.Constant: constant,
    ast.Name: read_name,
    ast.Attribute: attribute,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.BoolOp: boolean,
    ast.Compare: compare,
    ast.IfExp: conditional,
    ast.Tuple: tuple_expression,
    ast.Subscript: subscript,
    ast.Call: call,
    ast.Starred: starred,
    ast.Lambda: function_value,
    ast.NamedExpr: named_expression,
}
