"""Attributes and methods of arrays, streams and texts in a program: what it may use of each."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from course_lib.emulator import Counters, Kernel, Profile
from course_lib.emulator.language.names import Reference
from course_lib.emulator.plain.values import MAX_CHARACTERS, MAX_ITEMS, formatted
from course_lib.host.device_array import EmulatedDeviceArray, EmulatedEvent, EmulatedStream
from course_lib.tab.fields import Refused
from course_lib.tab.programs.numpy_functions import DRAWN, KNOWN, Look, check_size, on_64_bits
from course_lib.wording.findings import Finding

Numbers = (bool, int, float, np.generic)


@dataclass(frozen=True)
class Method:
    """`owner.name`, before it is called."""

    owner: Any
    name: str


@dataclass(frozen=True)
class Configured:
    """`kernel[grid, block]`, or `kernel.forall(n)`: a launch without its arguments."""

    kernel: Kernel
    grid: Any
    block: Any
    shared_bytes: Any = 0
    is_told: bool = False  # by `course_lib.emulate`: it gives a profile


@dataclass(frozen=True)
class TellingKernel:
    """`course_lib.emulate(kernel)`."""

    kernel: Kernel


@dataclass(frozen=True)
class Members:
    """The attributes and methods of a kind of object."""

    attributes: frozenset[str]
    methods: Mapping[str, Look]


def _entry(attributes: str, methods: str, **looks: Look) -> Members:
    return Members(frozenset(attributes.split()), {**dict.fromkeys(methods.split(), _any), **looks})


def _any(*given: Any, **named: Any) -> None:
    """It makes nothing larger."""


def _joined(text: str, parts: Any) -> None:
    if sum(len(part) + len(text) for part in parts) > MAX_CHARACTERS:
        raise Refused(f"A text of more than {MAX_CHARACTERS:,} characters is too long here.")


def _short(array: Any, *given: Any) -> None:
    if array.size > MAX_ITEMS:
        raise Refused(f"A list of more than {MAX_ITEMS:,} items is too long here.")


_OF_ARRAYS = "shape dtype ndim size nbytes itemsize strides T real imag"
_IN_NUMPY = """sum prod mean std var min max argmin argmax any all cumsum cumprod sort argsort ravel
    flatten transpose reshape squeeze round copy astype fill item view nonzero swapaxes
    diagonal trace conj"""
_OF_DEVICE = "copy_to_host copy_to_device reshape ravel squeeze transpose is_c_contiguous"
KINDS: Mapping[type, Members] = {
    np.ndarray: _entry(_OF_ARRAYS, _IN_NUMPY, dot=KNOWN["dot"], clip=KNOWN["clip"], tolist=_short),
    np.generic: _entry(_OF_ARRAYS, "item astype round sum max min mean any all copy"),
    np.dtype: _entry("itemsize name kind", ""),
    np.finfo: _entry("eps max min tiny bits", ""),
    np.iinfo: _entry("max min bits", ""),
    EmulatedDeviceArray: _entry("shape dtype ndim size nbytes strides T", _OF_DEVICE),
    EmulatedStream: _entry("", "synchronize auto_synchronize"),
    EmulatedEvent: _entry("", "record synchronize wait query"),
    np.random.Generator: Members(frozenset(), DRAWN),
    np.random.RandomState: Members(frozenset(), DRAWN),
    str: _entry("", "upper lower strip split format title startswith endswith", join=_joined),
    list: _entry("", "pop reverse index count copy"),
    Kernel: _entry("", "forall"),
    Profile: _entry(" ".join(field.name for field in fields(Counters)) + " findings finished", ""),
}


def entry_of(owner: Any) -> Members | None:
    """What this object has; None if nothing is known of its kind."""
    return next((entry for kind, entry in KINDS.items() if isinstance(owner, kind)), None)


def method_of(method: Method) -> tuple[Callable[..., Any], Look]:
    """A method as a function, and the look at its arguments; texts are put together here."""
    if isinstance(method.owner, str) and method.name == "format":
        return lambda *given, **named: put_into(method.owner, given, named), _any
    entry = entry_of(method.owner)
    assert entry is not None
    look, made = entry.methods[method.name], getattr(method.owner, method.name)
    if isinstance(method.owner, (np.ndarray, np.random.RandomState)):
        made = on_64_bits(made, method.owner)
    if look is not _any and isinstance(method.owner, (np.ndarray, str)):
        owner = method.owner
        return made, lambda *given, **named: look(owner, *given, **named)
    return made, look


def element_size(array: Any, index: Any) -> None:
    """Refuse an index by arrays that would give more elements than an array may have."""
    parts = index if isinstance(index, tuple) else (index,)
    chosen = [np.size(part) for part in parts if isinstance(part, (np.ndarray, list))]
    if chosen and not any(np.asarray(part).dtype == np.bool_ for part in parts):
        others = array.shape[len(chosen) :]
        check_size((max(chosen), *others))


# --- Texts, and types by name ---------------------------------------------------------------------

_PERCENT = re.compile(r"%(%|[-+ 0]?\d{0,2}(?:\.\d{1,2})?[dfeEgGsrx])")


def text_of(value: Any) -> str:
    """What `print` shows of a value.

    Raises:
        Refused: if that would not be what Python shows.
    """
    if not _has_text(value):
        raise Refused("This cannot be shown as Python shows it.")
    return str(value)


def in_format(value: Any, specification: str) -> str:
    """A value in an f-string."""
    if not specification:
        return text_of(value)
    return formatted(value.item() if isinstance(value, np.generic) else value, specification)


def _has_text(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_has_text, value))
    of_host = (EmulatedDeviceArray, EmulatedStream, Finding)
    shown = (str, *Numbers, np.ndarray, np.dtype, range, *of_host)
    return value is None or isinstance(value, shown)


def percent(template: str, values: Any) -> str:
    """`template % values`."""
    given = list(values if isinstance(values, tuple) else (values,))
    if "%" in _PERCENT.sub("", template):
        raise Refused("This format with % is not supported here.")
    asked = [found for found in _PERCENT.findall(template) if found != "%"]
    if len(asked) != len(given):
        raise TypeError("not as many values as the text has places")
    for value in given:
        text_of(value)
    return template % tuple(given)


def put_into(template: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """`template.format(…)`, of names and numbers without attributes."""
    parts, place = [], 0
    for text, name, specification, conversion in string.Formatter().parse(template):
        parts.append(text)
        if name is None:
            continue
        if conversion not in (None, "s") or not (not name or name.isalnum() or name.isidentifier()):
            raise Refused("This format is not supported here, but f-strings are.")
        if not name:
            name, place = str(place), place + 1
        value = given[int(name)] if name.isdigit() else named[name]
        parts.append(in_format(value, specification or ""))
    return "".join(parts)


def dtype_of(value: Any) -> np.dtype | None:
    """The type of elements that np.float32, numba.int32 or float means."""
    if isinstance(value, str):
        value = Reference(f"builtins.{value}")
    if isinstance(value, Reference):
        plain = {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool"}
        return np.dtype(plain[value.path]) if value.path in plain else value.dtype
    return None
