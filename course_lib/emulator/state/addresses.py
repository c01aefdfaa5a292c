"""Shared memory by address: what `shared_address` gives, and what lies there.

An address counts bytes from the beginning of a block's dynamic shared memory; arrays that have
their size in the kernel, 48 KiB at most, begin further on, at STATIC. Both lie below 256 KiB, all
that a descriptor of a tile can name.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import Allocation, ArrayView, Memory

STATIC = (256 - 48) << 10


def address_of(memory: Memory, view: ArrayView) -> Value:
    """The address of an array's first element, a uint32."""
    allocation = view.allocation
    first = base_of(memory, allocation) + view.offset * np.int64(allocation.dtype.itemsize)
    return first.astype(np.uint32)


def base_of(memory: Memory, allocation: Allocation) -> int:
    """The address at which an array of shared memory begins."""
    return allocation.address + (0 if memory.is_dynamic(allocation) else STATIC)


def array_at(memory: Memory, address: int) -> ArrayView | None:
    """The shared array in which an address lies; None if there is none.

    None as well where dynamic memory reaches beyond STATIC, and an array lies there, too.
    """
    found: dict[bool, ArrayView] = {}
    for view in memory.shared.values():
        begin = base_of(memory, view.allocation)
        if begin <= address < begin + view.allocation.cells * view.allocation.dtype.itemsize:
            found.setdefault(memory.is_dynamic(view.allocation), view)
    return found.popitem()[1] if len(found) == 1 else None


def elements_at(
    memory: Memory, array: ArrayView, address: Value, dtype: np.dtype
) -> tuple[ArrayView, Value]:
    """An array seen as elements of another type, and which of them lie at an address."""
    allocation = array.allocation
    key = ("seen as", id(allocation), dtype)
    if key not in memory.seen:
        cells = allocation.cells * allocation.dtype.itemsize // dtype.itemsize
        storage = allocation.storage.view(dtype)
        other = replace(
            allocation, dtype=dtype, storage=storage, shape=(cells,), spacing=0, written_in=None
        )
        memory.seen[key] = ArrayView(array.name, other, (np.int64(cells),), (1,))
    begin = np.int64(base_of(memory, allocation))
    index = (address.astype(np.int64) - begin) // np.int64(dtype.itemsize)
    return memory.seen[key], index


def bytes_of(memory: Memory, allocation: Allocation, block: int) -> np.ndarray:
    """The bytes of an array in the shared memory of a block; writing there writes to it."""
    whole = allocation.storage.view(np.uint8).reshape(memory.space.block_count, -1)
    result: np.ndarray = whole[block]
    return result
