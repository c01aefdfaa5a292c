"""Calls: of casts, of functions that the emulator knows, of device functions and closures."""

from __future__ import annotations

import ast
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH_OF_CALLS
from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import Cast, Intrinsic
from course_lib.emulator.inference.binding import Slot
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.machine.choices import poison_of_type
from course_lib.emulator.machine.frames import Frame
from course_lib.emulator.machine.machine import Machine
from course_lib.sentences import say


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
