"""What the rungs of each number format take, and what they multiply: float32 and back again.

Two things go wrong in a product. The inputs are rounded to the format: that is an error of the
matrices, and the same whoever multiplies. And sums are rounded at every step: that is an error of
the machine, and grows with K.

The emulator adds the products of one mma exactly and rounds once; a GPU's tensor cores cut digits
off in between. So there the error of the sums comes out too small; that of the inputs is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.devices.number_formats import bits_of_bf16, from_bf16

__all__ = ["FORMATS", "bits_of_bf16", "cut_to_tf32", "from_bf16"]

Matrix = np.ndarray[Any, Any]


def cut_to_tf32(numbers: Matrix) -> Matrix:
    """float32 without the last 13 of its 23 bits of fraction, as tensor cores read them."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


@dataclass(frozen=True)
class _Format:
    rung: str
    encode: Callable[[Matrix], Matrix]  # from float32 to what the rung takes
    value: Callable[[Matrix], Matrix]  # what the machine multiplies


def _as_it_is(numbers: Matrix) -> Matrix:
    return numbers


FORMATS = {
    "float32": _Format("register_1d", _as_it_is, _as_it_is),
    "tf32": _Format("tensor_core_tf32", _as_it_is, cut_to_tf32),
    "float16": _Format("tensor_core_f16", lambda x: x.astype(np.float16), _as_it_is),
    "bfloat16": _Format("tensor_core_bf16", bits_of_bf16, from_bf16),
}
