"""What a loop may go over: its items, their type, and how many there are; zip and enumerate."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView
from course_lib.sentences import say


def item_type(kind: T.Type) -> T.Type:
    """The type of the items of what a loop goes over.

    Raises:
        TypingError: if no loop goes over it.
    """
    if isinstance(kind, T.RangeType):
        return kind.dtype
    if isinstance(kind, T.ZipType):
        return T.TupleType(tuple(map(item_type, kind.parts)))
    if isinstance(kind, T.TupleType) and kind.items:
        several = not kind.is_uniform or bool(kind.fields)
        need(
            not several,
            say("there is no loop over {type}: its items are of several types", type=kind),
        )
        return kind.items[0]
    if isinstance(kind, T.ArrayType) and kind.ndim:
        return kind.indexed(["index"]) if kind.ndim > 1 else T.element_type(kind)
    if isinstance(kind, T.FlatType):
        return T.element_type(kind.array)
    if isinstance(kind, T.Static) and isinstance(kind.value, str):
        raise T.NotEmulated("takes no texts here", "A tuple of numbers can stand for it.")
    raise T.TypingError(say("there is no loop over {type}", type=kind))


@dataclass(frozen=True)
class ItemsInTurn:
    """What a loop takes out one by one, as long as all lanes are at the same place.

    Attributes:
        count: how many there are, perhaps another number for each lane; None if there is no end.
        item: the one at a place, for the lanes that are active then.
    """

    count: Value | None
    item: Callable[[Runner, int], Any]


def items_of(machine: Runner, kind: T.Type, value: Any) -> ItemsInTurn:
    """The items of a value of this type."""
    if isinstance(kind, T.RangeType):
        start, stop, step = value
        nonzero = np.where(step == 0, 1, step)
        count = np.maximum((stop - start + step - np.sign(step)) // nonzero, 0)
        return ItemsInTurn(count, lambda _, place: start + start.dtype.type(place) * step)
    if isinstance(kind, T.TupleType):
        return ItemsInTurn(np.int64(len(value)), lambda _, place: value[place])
    if isinstance(kind, T.ZipType):
        items: ItemsInTurn = value
        return items
    view: ArrayView = value
    return ItemsInTurn(view.shape[0], lambda machine, place: machine.array_item(view, place))


def _zip_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments here")
    kinds = tuple(each.type for each in arguments)
    for kind in kinds:
        item_type(kind)
    return Typed(T.ZipType(kinds))


def _zip(machine: Runner, node: ast.Call, values: list[Any]) -> ItemsInTurn:
    parts = [
        items_of(machine, machine.typing.types[argument], value)
        for argument, value in zip(node.args, values, strict=True)
    ]
    return _together(parts)


def _together(parts: list[ItemsInTurn]) -> ItemsInTurn:
    count: Value = np.int64(0)
    ends = [each.count for each in parts if each.count is not None]
    for number, end in enumerate(ends):
        count = np.minimum(count, end) if number else end
    return ItemsInTurn(
        count, lambda machine, place: tuple(part.item(machine, place) for part in parts)
    )


def _enumerate_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments here")
    need(1 <= len(arguments) <= 2, "takes what is counted, and where counting begins")
    item_type(arguments[0].type)
    begins = arguments[1].type if len(arguments) > 1 else T.INT64
    need(T.is_integer(begins), "begins to count at a whole number")
    return Typed(T.ZipType((T.RangeType(T.INT64), arguments[0].type)))


def _enumerate(machine: Runner, node: ast.Call, values: list[Any]) -> ItemsInTurn:
    first = machine.convert(values[1], T.INT64) if len(values) > 1 else np.int64(0)
    counter = ItemsInTurn(None, lambda _, place: first + np.int64(place))
    return _together([counter, items_of(machine, machine.typing.types[node.args[0]], values[0])])


INTRINSICS["builtins.zip"] = Intrinsic(_zip_typing, _zip)
INTRINSICS["builtins.enumerate"] = Intrinsic(_enumerate_typing, _enumerate)
