"""From indices to cells, each checked against the axes of its array before anything is touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.lib.stride_tricks import as_strided

from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import (
    NEVER_WRITTEN,
    START,
    Allocation,
    ArrayView,
    contiguous_strides,
)

_NO_FAULTS: Sequence[Fault] = ()


@dataclass(frozen=True)
class Fault:
    """An index outside its array, or below zero, with the first lane that had it.

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
        """Indices with negative ones counted from the end, as Numba does, on the GPU too."""
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


# --- Fields of records, parts of complex numbers, other types over the same bytes -----------------
# A field of an array is an array itself: `a.x` lies over the bytes of `a`, an element in each
# record. It gets an `Allocation` of its own, made once, whose storage is a view of the whole
# one's, so that loads, stores, bounds and races need to know nothing of records. A record is an
# array without axes.


PARTS = ("real", "imag")


def field_of(view: ArrayView, name: str) -> ArrayView:
    """The field `name` of every record of a view, or the part of every complex number."""
    whole = view.allocation
    if name not in whole.fields:
        is_part = whole.dtype.kind == "c" and name in PARTS
        whole.fields[name] = _part(whole, name) if is_part else _field(whole, name)
    field = whole.fields[name]
    kind = whole.dtype[name] if whole.dtype.names else field.dtype
    several = whole.spacing // field.spacing
    within = field.dtype.itemsize // field.spacing
    return replace(
        view,
        allocation=field,
        shape=(*view.shape, *map(np.int64, kind.shape)),
        strides=(
            *(step * several for step in view.strides),
            *(step * within for step in contiguous_strides(kind.shape)),
        ),
        offset=view.offset if several == 1 else view.offset * np.int64(several),
    )


def seen_as(view: ArrayView, dtype: np.dtype) -> ArrayView:
    """The same bytes as elements of another type of the same size."""
    whole, name = view.allocation, f"view {dtype}"
    if dtype == whole.dtype:
        return view
    if name not in whole.fields:
        whole.fields[name] = _made(whole, "", whole.storage.view(dtype), 0, whole.spacing)
    return replace(view, allocation=whole.fields[name])


def seen_wider_or_narrower(view: ArrayView, dtype: np.dtype) -> ArrayView:
    """The same bytes as elements of another size; the array lies row after row.

    Its rows, and where it begins, are whole numbers of the new elements.
    """
    whole, name = view.allocation, f"view {dtype}"
    now, wanted = whole.dtype.itemsize, dtype.itemsize
    if name not in whole.fields:
        count = whole.storage.nbytes // wanted
        storage = whole.storage.view(np.uint8)[: count * wanted].view(dtype)
        made = _made(whole, "", storage, 0, wanted)
        whole.fields[name] = replace(made, shape=(count,))
    *outer, last = view.shape
    return replace(
        view,
        allocation=whole.fields[name],
        shape=(*outer, last * np.int64(now) // np.int64(wanted)),
        strides=(*(step * now // wanted for step in view.strides[:-1]), 1),
        offset=view.offset * np.int64(now) // np.int64(wanted),
    )


def _part(whole: Allocation, name: str) -> Allocation:
    storage = getattr(whole.storage, name)
    offset = storage.dtype.itemsize if name == "imag" else 0
    return _made(whole, f".{name}", storage, offset, whole.spacing)


def _field(whole: Allocation, name: str) -> Allocation:
    assert whole.dtype.fields is not None
    kind, offset = whole.dtype.fields[name][:2]
    storage, spacing = whole.storage[name], whole.spacing
    if kind.shape:  # several elements in each record: reach them all in steps of one size
        spacing = math.gcd(spacing, kind.base.itemsize)
        last = (whole.storage.size - 1) * whole.spacing + kind.itemsize - kind.base.itemsize
        storage = as_strided(storage, (max(last // spacing + 1, 0),), (spacing,))
    return _made(whole, f".{name}", storage, offset, spacing)


def _made(
    whole: Allocation, name: str, storage: np.ndarray, offset: int, spacing: int
) -> Allocation:
    """The allocation of a field; what is written there is noted apart, if it is no whole element.

    A part of a complex number shares its notes with the number: so both count as written.
    """
    several = whole.spacing // spacing
    written = whole.written_in
    if written is not None and whole.dtype.names:
        written = np.full(written.size * several, NEVER_WRITTEN, np.int32)
    return replace(
        whole,
        name=whole.name,
        shape=whole.shape if several == 1 else (whole.cells * several,),
        dtype=storage.dtype,
        storage=storage,
        address=whole.address + offset,
        written_in=written,
        ages=None,
        spacing=spacing,
        within=(whole, name),
        fields={},
    )


# --- Accesses of 8 or 16 bytes per lane -----------------------------------------------------------
# A wide access names its first element by a flat index: counted from the array's first element,
# whatever the axes. Such an index never counts from the end. The address must be a multiple of the
# access's width, or a GPU stops the launch with "misaligned address". In shared and local memory,
# an array begins at a multiple of 16 bytes only if `alignment=16` asks for it.


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
    length = view.size
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
