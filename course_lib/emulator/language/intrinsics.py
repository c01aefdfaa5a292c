"""What a function that a kernel may call is made of: its types, and what it does on lanes.

Each entry of `INTRINSICS` gives the typing rule (argument types to result type, as Numba has it)
and the action, which receives the machine, the call and its evaluated arguments. The modules in
`functions` fill the tables. The machine reads them, and so its type has no name here.
"""

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from course_lib.emulator.language import types as T
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
# From the types of the arguments to that of the result; raises TypingError.
Rule = Callable[[Arguments, Keywords], Typed]
# What a function does; called with the machine, the call and the evaluated arguments.
Action = Callable[[Any, ast.Call, list[Any]], Any]


@dataclass(frozen=True)
class Intrinsic:
    """A function of the kernel language."""

    typing: Rule
    run: Action


Scope = Literal["block", "grid", "others"]  # who waits for each other


@dataclass(frozen=True)
class Barrier(Intrinsic):
    """A function in which the threads of a block, or of the grid, wait for each other."""

    # what a thread does before it waits; behind the barrier `run` is given what that returned
    arrive: Action
    scope: Scope = "block"


@dataclass(frozen=True)
class Beside(Intrinsic):
    """A function that starts something beside the threads, or asks for what they share out."""


@dataclass(frozen=True)
class WaitFunction(Intrinsic):
    """A function in which threads wait for what others, or a copy, will do some time."""

    arrive: Action  # what a thread does before it waits
    # whether the waiting is over, given what `arrive` returned; then `run` is given it
    is_over: Callable[[Any, Any], bool]


@dataclass(frozen=True)
class GroupWait(WaitFunction):
    """One in which the warps of a warpgroup wait for each other, and for nobody else.

    Where they run together there is nothing to wait for: their blocks need not be taken apart.
    """


@dataclass(frozen=True)
class Atomic(Intrinsic):
    """A function that reads a cell and changes it in one step."""


@dataclass(frozen=True)
class Cast:
    """A conversion such as `np.float32(x)`."""

    dtype: np.dtype


@dataclass(frozen=True)
class Attribute:
    """A special register such as `cuda.threadIdx.x`."""

    type: T.Type
    read: Callable[[Any], Any]


INTRINSICS: dict[str, Intrinsic] = {}
ATTRIBUTES: dict[str, Attribute] = {}


def function(
    *paths: str, typing: Rule, kind: type[Intrinsic] = Intrinsic
) -> Callable[[Action], Action]:
    """Enter what is decorated as what the functions of these names do."""

    def enter(run: Action) -> Action:
        INTRINSICS.update(dict.fromkeys(paths, kind(typing, run)))
        return run

    return enter


def need(condition: bool, message: str, hint: str = "") -> None:
    """Refuse a call, unless `condition` holds.

    Raises TypingError with the message, and with a hint where there is one for this call alone.
    """
    if not condition:
        raise T.TypingError(message, hint)


def supported(condition: bool, message: str, hint: str) -> None:
    """Refuse a call that Numba compiles, unless `condition` holds.

    Raises NotEmulated with the message, and with what to write instead.
    """
    if not condition:
        raise T.NotEmulated(message, hint)


def scalars(
    arguments: Arguments, low: int, high: int | None = None, complex_too: bool = False
) -> list[np.dtype]:
    """The types of the arguments, which must be numbers, `low` to `high` of them.

    Few functions take complex numbers as well. Raises TypingError if they are not.
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


def giving(result: T.Type, low: int, high: int | None = None) -> Rule:
    """The type of a function that takes `low` to `high` numbers, whichever they are."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, low, high)
        return Typed(result)

    return typing
