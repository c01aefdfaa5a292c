"""Accesses of 16 (or 8) bytes per lane: flat indices, their bounds and their alignment.

A wide access names its first element by a flat index: counted from the array's first element,
whatever the axes. Such an index never counts from the end. The address must be a multiple of the
access's width, or a GPU stops the launch with "misaligned address". In shared and local memory,
an array begins at a multiple of 16 bytes only if `alignment=16` asks for it.
"""

from __future__ import annotations

import numpy as np

from course_lib.emulator.state.indices import Fault, IndexChecker
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView

WIDE_BYTES = 16


def elements_at_once(dtype: np.dtype) -> int:
    """How many elements make 16 bytes."""
    return WIDE_BYTES // dtype.itemsize


def flat_cells(
    checker: IndexChecker, view: ArrayView, index: Value, elements: int, mask: Mask
) -> tuple[Value, Mask, list[Fault]]:
    """The first cell of each lane, the lanes that may access it, and the faults.

    The view is contiguous: its elements lie one after the other from its offset.
    """
    allocation = view.allocation
    width = elements * allocation.dtype.itemsize
    length = _length(view)
    index, low, high = checker.whole(index)
    faults: list[Fault] = []

    def reject(kind: str, wrong: Value) -> Mask:
        bad = mask.where(wrong)
        if bad.empty:
            return mask
        lane = int(np.argmax(bad.full_array))
        at, end = int(checker.at(index, lane)), int(checker.at(length, lane))
        faults.append(Fault(kind, 0, at, end, lane, elements))
        return mask.without(bad)

    # An array begins at a multiple of the width, so that its cells alone decide.
    misaligned = (view.offset + index) % np.int64(elements) != 0
    if low < 0 or high + elements > int(np.min(length)):
        outside = (index < 0) | (index + elements > length)
        if allocation.alignment >= width:
            # What begins inside and ends outside is not too far along, but in a wrong place.
            outside = outside & (~misaligned | (index < 0) | (index >= length))
        mask = reject("outside", outside)
        index = np.where(outside, np.int64(0), index)
    cell = view.offset + index
    if allocation.alignment < width:
        return cell, reject("unaligned", np.True_), faults
    if misaligned.any():
        mask = reject("misaligned", misaligned)
        cell = np.where(misaligned, np.int64(view.offset), cell)
    return cell, mask, faults


def _length(view: ArrayView) -> Value:
    """How many elements a view has."""
    length: Value = np.int64(1)
    for each in view.shape:
        length = length * each
    return length
