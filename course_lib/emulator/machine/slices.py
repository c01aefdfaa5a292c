"""Slices of an axis whose bounds may differ between lanes, cut as NumPy cuts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.state.lanes import Value


def last_named(item: Any, length: Value) -> Value:
    """An index, or the last one of a slice as it is written: NumPy cuts it where the array ends."""
    if not isinstance(item, slice):
        result: Value = item
        return result
    if item.step is not None:  # where it ends is a matter of its step; NumPy cuts it
        return np.int64(0)
    return (length if item.stop is None else item.stop) - np.int64(1)


def cut(item: slice, length: Value, line: int) -> tuple[Value, Value, int]:
    """Where a slice of an axis begins, how many elements it has, and its step, as in NumPy.

    Raises:
        KernelRejected: if the step differs between lanes; strides are those of an array.
    """
    step = 1 if item.step is None else int(np.min(item.step))
    if item.step is not None and step != np.max(item.step):
        message = "The threads of this launch cut an array with different steps."
        raise rejection("unsupported", message, line, "A loop with a step does the same.")
    if step == 0:
        raise rejection("unsupported", "The step of a slice must not be zero.", line)
    # Downwards the places before the first and behind the last are -1 and length - 1.
    low, high = (np.int64(0), length) if step > 0 else (np.int64(-1), length - np.int64(1))
    first, last = (low, high) if step > 0 else (high, low)
    start, stop = (
        default if bound is None else _bound(bound, length, low, high)
        for bound, default in ((item.start, first), (item.stop, last))
    )
    count = np.maximum((stop - start + step - np.sign(step)) // step, np.int64(0))
    # An empty part begins at 0: nobody can reach it, and it lies inside for NumPy.
    return np.where(count > 0, start, np.int64(0))[()], count, step


def _bound(bound: Value, length: Value, low: Value, high: Value) -> Value:
    bound = bound.astype(np.int64)
    result: Value = np.clip(np.where(bound < 0, bound + length, bound), low, high)[()]
    return result
