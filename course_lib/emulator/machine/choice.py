"""`choose(usual, 3, other, 7, another)`: in the blocks of z = 3 `other`, of z = 7 `another`.

No kernel of a student calls it: many variants of one kernel run as the blocks of one launch, and
where they differ the function chooses; see diagnosis/repair/schemata.py. What some blocks have in
place of the usual value is worked out for them alone.
"""

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Frame
from course_lib.emulator.machine.machine import Machine, Prepare, Prepared
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, joint_shape

CHOOSE = "course_lib.emulator.choose"  # what its name stands for in a kernel's namespace
STEPS = 2  # what a choice costs, beside three for four alternatives


class Alternatives(Intrinsic):
    """The one function whose arguments are not all worked out: each in its own blocks alone."""


def _typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = [argument.type for argument in arguments]
    need(all(map(T.is_scalar, kinds)), "can choose only between numbers")
    usual = kinds[0]
    if isinstance(usual, np.dtype) and usual.kind == "u":  # bits, which have to stay as many
        return Typed(usual)
    whole = reduce(T.unify, (kind for kind in kinds if T.is_integer(kind)), usual)
    return Typed(whole if T.is_integer(whole) else usual)


def _never(*_: object) -> Any:
    raise AssertionError("what `chooser` makes runs instead")


INTRINSICS[CHOOSE] = Alternatives(_typing, _never)


def chooser(typing: Typing, node: ast.Call, prepare: Prepare) -> Prepared:
    """The function that evaluates a call of `choose`."""
    dtype = typing.types[node]
    usual = prepare(typing, node.args[0])
    numbers = [number.value for number in node.args[1::2]]  # type: ignore[attr-defined]
    others = [_evaluation(other, prepare(typing, other)) for other in node.args[2::2]]
    on_top = [_on_top(typing, node, other, prepare) for other in node.args[2::2]]
    is_harmless = isinstance(node.args[0], ast.Name | ast.Constant)

    def run(machine: Machine) -> Any:
        first, count = machine.space.first_block[0], machine.space.blocks[0]
        entered = machine.active
        runs = entered.in_blocks_of_z
        here = [
            (number - first, other, more)
            for number, other, more in zip(numbers, others, on_top, strict=True)
            if 0 <= number - first < count and runs[number - first]
        ]
        machine.steps.spend(STEPS + 3 * len(here) // 4, node.lineno)
        if not here:
            return machine.convert(usual(machine), dtype)
        chosen = [
            (place, machine.convert(other(machine, place), dtype))
            for place, other, more in here
            if more is None
        ]
        # Nor do those blocks load what they do not choose.
        if chosen and not is_harmless:
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


def _on_top(typing: Typing, node: ast.Call, other: ast.expr, prepare: Prepare) -> OnTop | None:
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


def _alone(machine: Machine, place: int, evaluate: Prepared) -> Value:
    """The value of an expression in the blocks of one z."""
    space, active, frame = machine.space, machine.active, machine.frame
    first, blocks = space.first_block, space.blocks
    machine.space = LaneSpace(
        space.grid, (first[0] + place, *first[1:]), (1, *blocks[1:]), space.threads, space.rows
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
