"""Checks the indices of an access against the axes of its array, before anything is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import START, ArrayView

_NO_FAULTS: Sequence[Fault] = ()


@dataclass(frozen=True)
class Fault:
    """An index that is not inside its array, or below zero, with the first lane that had it.

    Of a wide access, the index counts from the array's first element; it may also be misaligned.
    """

    # "outside", "negative", or "from-end" for one that is negative on purpose; of a wide access
    # "outside", "misaligned" or "unaligned".
    kind: str
    axis: int
    index: int
    length: int
    lane: int
    elements: int = 0  # of a wide access, how many
    lanes: Mask | None = field(default=None, compare=False)  # all that had such an index


def _of_numbers(indices: Sequence[Value], view: ArrayView) -> np.int64 | None:
    """The cell of one element that all lanes name, if it is inside."""
    cell = 0
    for index, length, stride in zip(indices, view.lengths, view.strides, strict=False):
        if index.ndim:
            return None
        number = int(index)
        if not 0 <= number < length:
            return None
        cell += number * stride
    return np.int64(cell)


class IndexChecker:
    """Turns the indices of an access into cells, and finds those that are not inside."""

    def __init__(self, space: LaneSpace) -> None:
        self.space = space
        # Thread indices are used over and over: remember what was worked out for arrays seen
        # lately. The array is kept with it, so that its id cannot go to another one meanwhile.
        self._known: dict[int, tuple[np.ndarray, np.ndarray, int, int]] = {}
        # Likewise what such an array becomes where only inactive lanes are outside.
        self._harmless: dict[int, tuple[Value, Mask, Value, Value]] = {}

    def cells(
        self, view: ArrayView, indices: Sequence[Value], mask: Mask
    ) -> tuple[Value, Mask, Sequence[Fault]]:
        """The cell of each lane, the lanes whose indices are inside, and the faults."""
        if view.offset is START and view.lengths:
            number = _of_numbers(indices, view)
            if number is not None:
                return number, mask, _NO_FAULTS
        cell: Value = view.offset
        faults: list[Fault] = []
        for axis, (index, stride) in enumerate(zip(indices, view.strides, strict=False)):
            length = view.shape[axis]
            known = self._known.get(id(index))
            if known is not None and known[2] >= 0 and length.ndim == 0 and known[3] < length:
                index = known[1]
            else:
                index, mask = self.inside(index, length, axis, mask, faults)
            step = index if stride == 1 else index * np.int64(stride)
            cell = step if cell is START else cell + step
        return cell, mask, faults

    def inside(
        self, index: Value, length: Value, axis: int, mask: Mask, faults: list[Fault]
    ) -> tuple[Value, Mask]:
        """One axis's index as int64, made harmless where it is outside, and the lanes inside."""
        unsigned = index.dtype.kind == "u"
        index, low, high = self.whole(index)
        shortest = int(length) if length.ndim == 0 else int(length.min())
        if low >= 0 and high < shortest:
            return index, mask
        # From here on some index may be outside; only active lanes count.
        known = self._harmless.get(id(index))
        if known is not None and known[1] is mask and known[2] is length:
            return known[3], mask
        # As unsigned numbers, negative ones lie beyond every length, too.
        beyond = index.view(np.uint64) >= length.astype(np.uint64)
        if mask.array is not None and not np.count_nonzero(beyond & mask.array):
            return self._made_harmless(index, mask, length, beyond), mask
        if low < 0 and not unsigned:
            index = self._wrapped(index, length, axis, mask, faults)
        outside = index >= length if low >= 0 else (index < 0) | (index >= length)
        bad = mask.where(outside)
        harmless = np.where(outside, np.int64(0), index)
        if not bad.empty:
            faults.append(self._fault("outside", axis, index, length, bad))
            mask = mask.without(bad)
        return harmless, mask

    def _made_harmless(self, index: Value, mask: Mask, length: Value, beyond: Value) -> Value:
        """An index where only inactive lanes are outside: 0 for these, which may hold anything."""
        harmless = np.where(beyond, np.int64(0), index)
        if len(self._harmless) >= 32:
            self._harmless.clear()
        self._harmless[id(index)] = (index, mask, length, harmless)
        return harmless

    def _wrapped(
        self, index: Value, length: Value, axis: int, mask: Mask, faults: list[Fault]
    ) -> Value:
        """Numba lets a negative index count from the end, on the GPU too."""
        negative = (index < 0) & (index >= -np.asarray(length))
        counted = mask.where(negative)
        if not counted.empty:
            faults.append(self._fault("negative", axis, index, length, counted))
        return np.where(negative, index + length, index)

    def _fault(self, kind: str, axis: int, index: Value, length: Value, bad: Mask) -> Fault:
        lane = int(np.argmax(bad.full_array))
        number, size = int(self.at(index, lane)), int(self.at(length, lane))
        return Fault(kind, axis, number, size, lane, lanes=bad)

    def at(self, value: Value, lane: int) -> np.generic:
        """The value of one lane."""
        if np.ndim(value) == 0:
            return value  # type: ignore[return-value]
        place = np.unravel_index(lane, self.space.shape)
        result: np.generic = np.broadcast_to(value, self.space.shape)[place]
        return result

    def whole(self, index: Value) -> tuple[Value, int, int]:
        """An index as int64, with its lowest value, or 0 if none is negative, and its highest."""
        if index.ndim == 0:
            number = int(index)
            if number >= 2**63:
                return np.int64(-1), -1, number
            return np.int64(number), number, number
        known = self._known.get(id(index))
        if known is not None:
            return known[1:]
        whole = index.astype(np.int64, copy=False)
        # As unsigned numbers, negative ones are the highest: one look instead of two.
        low, high = 0, int(whole.view(np.uint64).max())
        if high >= 2**63:
            low, high = int(whole.min()), int(whole.max())
        if len(self._known) >= 32:
            self._known.clear()
        self._known[id(index)] = (index, whole, low, high)
        return whole, low, high
