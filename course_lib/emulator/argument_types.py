"""The types of a launch's arguments, and which arguments no launch takes."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.random_functions import STATE
from course_lib.emulator.language import types as T
from course_lib.emulator.language.kernel import Kernel
from course_lib.sentences import say


def types_of_arguments(kernel: Kernel, arguments: Sequence[Any]) -> list[T.Type]:
    """The type of each argument of a launch.

    Raises:
        KernelRejected: for too many or too few of them, and as `type_of_argument` does.
    """
    names = kernel.parameters
    if len(arguments) != len(names):
        raise rejection(
            "invalid-launch",
            say(
                "{kernel} takes {wanted} arguments ({names}), but {given} {were} passed.",
                kernel=kernel.name,
                wanted=len(names),
                names=", ".join(names),
                given=len(arguments),
                were="was" if len(arguments) == 1 else "were",
            ),
            kernel.tree,
        )
    return [
        T.EnumType(type(value))
        if isinstance(value, enum.IntEnum)
        else type_of_argument(name, value)
        for name, value in zip(names, arguments, strict=True)
    ]


def type_of_argument(name: str, value: Any) -> T.Type:
    """The type of an argument.

    Raises:
        KernelRejected: with `invalid-launch` for what no launch takes, else with `unsupported`.
    """
    if isinstance(value, np.ndarray):
        return _type_of_array(name, value)
    if isinstance(value, tuple):
        items = (type_of_argument(f"{name}[{i}]", item) for i, item in enumerate(value))
        return T.TupleType(tuple(items), getattr(type(value), "_fields", ()))
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        return T.EnumType(type(value))
    if isinstance(value, np.void) and T.is_record_type(value.dtype):
        return T.RecordType(value.dtype)
    kind = T.type_of_scalar(value)
    if kind is not None:
        return kind
    raise _no_argument(name, value)


def _type_of_array(name: str, array: np.ndarray) -> T.ArrayType:
    if array.dtype == STATE:
        return T.ArrayType(STATE, array.ndim, array.flags.writeable)
    if isinstance(array, np.ma.MaskedArray):
        message = say("Argument {name} is a masked array, and Numba takes none.", name=name)
        raise rejection(
            "invalid-launch", message, None, say("{name}.filled(…) is a plain one.", name=name)
        )
    kind = T.type_of_array(array)
    if kind is None:
        raise _unknown_array(name, array)
    return kind


def _no_argument(name: str, value: object) -> KernelRejected:
    """What is no array, no tuple and no number that a kernel takes."""
    if isinstance(value, int):
        message = say(
            "Argument {name} is a whole number of more than 64 bits, and none can hold it.",
            name=name,
        )
        return rejection("invalid-launch", message, None, "What is the largest number it must be?")
    if isinstance(value, np.void | np.datetime64 | np.timedelta64):
        what = type(value).__name__
        message = say(
            "Argument {name} is of type {what}, and the emulator has no numbers of that type.",
            name=name,
            what=what,
        )
        hint = "Pass the numbers that it is made of, each by itself."
        return rejection("unsupported", message, None, hint)
    return rejection(
        "invalid-launch",
        say(
            "Argument {name} is of type {type}; a kernel takes NumPy arrays and numbers.",
            name=name,
            type=type(value).__name__,
        ),
        None,
        "np.array(…) makes an array." if isinstance(value, list) else "What is it made of?",
    )


def _unknown_array(name: str, array: np.ndarray) -> KernelRejected:
    """Numba has more kinds of arrays than the emulator, but not those of any byte order or mask."""
    if array.dtype.kind in "SUMmV":
        message = say(
            "Argument {name} is an array of {dtype}, and the emulator has none of those.",
            name=name,
            dtype=array.dtype,
        )
        hint: str = "It has booleans, integers, floats of up to 64 bits and complex numbers."
        if array.dtype.names:
            first = array.dtype.names[0]
            hint = say(
                'Pass every field as an array of its own, such as {name}["{first}"].copy().',
                name=name,
                first=first,
            )
        return rejection("unsupported", message, None, hint)
    message = say(
        "Argument {name} is an array of {dtype}, which no kernel takes.",
        name=name,
        dtype=array.dtype,
    )
    return rejection(
        "invalid-launch", message, None, say("Is {name}.astype(np.float32) meant?", name=name)
    )
