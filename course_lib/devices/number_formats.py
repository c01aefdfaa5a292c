"""Formats of 16 bits, what rounding to one makes of float32 numbers; and 64 bits in base 16.

NumPy has float16. It has no bfloat16, which is the upper half of a float32; kernels get it as
uint16 bit patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def bits_of_bf16(numbers: Array) -> Array:
    """float32 rounded to bfloat16, to even where it lies in the middle, as uint16 bit patterns."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: Array) -> Array:
    """The float32 values of bfloat16 bit patterns: the upper half of a float32 each."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


# By the name that an exercise has for it: from float32 to what a kernel gets, and back.
_ENCODED: Mapping[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "bfloat16": (bits_of_bf16, from_bf16),
    "float16": (lambda numbers: numbers.astype(np.float16), lambda held: held.astype(np.float32)),
}


def rounded(numbers: Array, name: str) -> Array:
    """float32 numbers, as near to the given ones as the format has them; "float32" changes none."""
    if name not in _ENCODED:
        return numbers
    encode, decode = _ENCODED[name]
    return decode(encode(numbers)).reshape(np.shape(numbers))


def encoded(numbers: Array, name: str) -> Array:
    """float32 numbers as a kernel gets them in this format; a copy, in the same order."""
    if name not in _ENCODED:
        return numbers.copy(order="K")
    held = _ENCODED[name][0](numbers).reshape(np.shape(numbers))
    return np.asfortranarray(held) if _is_fortran(numbers) else held


def _is_fortran(numbers: Array) -> bool:
    return bool(numbers.flags.f_contiguous and not numbers.flags.c_contiguous)


def is_bit_pattern(value: object) -> bool:
    """Whether a whole number is so large that its bits are meant, and not how many."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53


def in_hexadecimal(value: int) -> str:
    """Four digits at a time, each group 16 bits: 0x4000_0040_0000_0000."""
    return f"{value:#_x}"
