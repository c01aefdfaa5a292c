"""Makes a function of the machine out of an expression, with all that its types say worked out.

An expression in a loop is evaluated over and over, and the types never change: so each of the usual
kinds is looked at once. Whatever is not among them is evaluated part by part, by `EXPRESSIONS`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.choice import Alternatives
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, Cast, Intrinsic
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import DeviceArray, Reference
from course_lib.emulator.machine.arithmetic import binary, note_flops, operate, unary
from course_lib.emulator.machine.assignments import named_expression
from course_lib.emulator.machine.calls import call
from course_lib.emulator.machine.comparisons import compare, compare_two
from course_lib.emulator.machine.expressions import (
    array_constant,
    attribute,
    boolean,
    conditional,
    constant,
    function_value,
    starred,
    tuple_expression,
)
from course_lib.emulator.machine.machine import Machine, Prepared
from course_lib.emulator.machine.one_block import chooser
from course_lib.emulator.machine.operators import COMPARISONS, OPERATORS, PRODUCTS, WRAPS
from course_lib.emulator.machine.subscripts import element_parts, subscript
from course_lib.emulator.machine.variables import read_name

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
