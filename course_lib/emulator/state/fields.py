"""Fields of records, parts of complex numbers, other types over the same bytes.

A field of an array is an array itself: `a.x` lies over the bytes of `a`, an element in each record.
It gets an `Allocation` of its own, made once, whose storage is a view of the whole one's, so that
loads, stores, bounds and races need to know nothing of records. A record is an array without axes.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import as_strided

from course_lib.emulator.state.memory import (
    NEVER_WRITTEN,
    Allocation,
    ArrayView,
    contiguous_strides,
)

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
