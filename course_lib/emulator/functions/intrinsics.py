"""What a function that a kernel may call is made of: its types, and what it does on lanes.

Each entry of `INTRINSICS` gives the typing rule (argument types to result type, as Numba has it)
and the action, which receives the machine, the call and its evaluated arguments. The modules beside
this one fill the tables.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value
from course_lib.wording.sentences import say


@dataclass(frozen=True)
class Typed:
    """A type, and the value if it is a literal that Numba treats as a constant.

    Of a whole number `members` is the enumeration that it is a member of, if it is one.
    """

    type: T.Type
    literal: int | tuple[Any, ...] | None = None
    members: enum.EnumMeta | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Typed):
            return False
        known = (self.literal, self.members) == (other.literal, other.members)
        return known and T.same(self.type, other.type)

    def __hash__(self) -> int:
        return hash((self.type, self.literal))


Arguments = Sequence[Typed]
Keywords = Mapping[str, Typed]


@dataclass(frozen=True)
class Intrinsic:
    """A function of the kernel language.

    Attributes:
        typing: from the types of the arguments to that of the result; raises TypingError.
        run: what it does; called with the machine, the call and the evaluated arguments.
    """

    typing: Callable[[Arguments, Keywords], Typed]
    run: Callable[[Runner, ast.Call, list[Any]], Any]


@dataclass(frozen=True)
class Barrier(Intrinsic):
    """A function in which the threads of a block wait for each other.

    Attributes:
        arrive: what a thread does before it waits, with the evaluated arguments. Behind the barrier
            `run` is given what that returned, as the only argument.
    """

    arrive: Callable[[Runner, ast.Call, list[Any]], Any]


@dataclass(frozen=True)
class Cast:
    """A conversion such as `np.float32(x)`."""

    dtype: np.dtype


@dataclass(frozen=True)
class Attribute:
    """A special register such as `cuda.threadIdx.x`."""

    type: T.Type
    read: Callable[[Runner], Value]


INTRINSICS: dict[str, Intrinsic] = {}
ATTRIBUTES: dict[str, Attribute] = {}


def need(condition: bool, message: str, hint: str = "") -> None:
    """Refuse a call, unless `condition` holds.

    Raises:
        TypingError: with the message, and with a hint where there is one for this call alone.
    """
    if not condition:
        raise T.TypingError(message, hint)


def supported(condition: bool, message: str, hint: str) -> None:
    """Refuse a call that Numba compiles, unless `condition` holds.

    Raises:
        NotEmulated: with the message, and with what to write instead.
    """
    if not condition:
        raise T.NotEmulated(message, hint)


def scalars(
    arguments: Arguments, low: int, high: int | None = None, complex_too: bool = False
) -> list[np.dtype]:
    """The types of the arguments, which must be numbers, `low` to `high` of them.

    Few functions take complex numbers as well.

    Raises:
        TypingError: if they are not.
    """
    high = low if high is None else high
    count = str(low) if low == high else f"{low} to {high}"
    need(
        low <= len(arguments) <= high,
        say("takes {count} argument(s), not {given}", count=count, given=len(arguments)),
    )
    for argument in arguments:
        real = complex_too or not T.is_complex(argument.type)
        fits = T.is_scalar(argument.type) and real
        need(fits, say("needs numbers, not {type}", type=argument.type))
    return [argument.type for argument in arguments]  # type: ignore[misc]


def giving(
    result: T.Type, low: int, high: int | None = None
) -> Callable[[Arguments, Keywords], Typed]:
    """The type of a function that takes `low` to `high` numbers, whichever they are."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, low, high)
        return Typed(result)

    return typing


def elementwise(
    function: Callable[..., Any],
    result: Callable[[list[np.dtype]], np.dtype],
    operands: Callable[[list[np.dtype]], np.dtype] | None = None,
    low: int = 1,
    high: int | None = None,
    flops: int = 0,
    chooses: bool = False,
    complex_too: bool = False,
) -> Intrinsic:
    """A function of numbers: operands are converted to one type, then NumPy computes.

    `chooses`: the result is one of them, so that each may be a limit for the others.
    """

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        return Typed(result(scalars(arguments, low, high, complex_too)))

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        kinds = [value.dtype for value in values]
        common = (operands or result)(kinds)
        machine.count_flops(node, common, flops)
        if chooses:
            nodes = list(node.args)
            if len(nodes) < len(values):  # the items of a tuple
                nodes = getattr(nodes[0], "elts", nodes * len(values))
            for argument, value in zip(nodes[1:], values[1:], strict=True):
                machine.meet_limit("choice", argument, values[0], value)
        computed = function(*(machine.convert(value, common) for value in values))
        given: Value = machine.convert(computed, machine.typing.types[node])
        return given

    return Intrinsic(typing, run)


def unified(kinds: list[np.dtype]) -> np.dtype:
    """The type in which Numba computes with numbers of these types together."""
    result: T.Type = kinds[0]
    for kind in kinds[1:]:
        result = T.unify(result, kind)
    return result  # type: ignore[return-value]
