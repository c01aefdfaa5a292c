"""Hopper's additions to memory: addresses in shared memory, mbarriers, tensor maps and boxes.

An address counts bytes from the beginning of a block's dynamic shared memory; arrays that have
their size in the kernel, 48 KiB at most, begin further on, at STATIC. Both lie below 256 KiB, all
that a descriptor of a tile can name.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

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


# --- mbarriers: arrivals and bytes, counted phase after phase -------------------------------------
# A phase is complete when as many threads have arrived as were said beforehand, and all bytes that
# were announced have come; then the next one begins by itself (PTX ISA, "mbarrier"). Barriers of
# whole warps (`group_sync`) and of a cluster are counted in the same way, without bytes.

# What tells a barrier apart from others: a block, by its number in the space, and its address
# there, or a name and a number of another kind of barrier.
Key = tuple[int | str, ...]
Onlooker = Literal["copies", "blocks"]  # other than threads of the same block


@dataclass
class Phases:
    """One mbarrier."""

    expected: int  # how many arrivals complete a phase
    line: int  # of the kernel, where it was made
    missing: int = 0  # how many of the phase that is under way have still to come
    # how many bytes were announced in this phase, and have not come yet; copies that come before
    # they are announced make it negative
    bytes: int = 0
    phase: int = 0  # how many phases are complete
    is_awaited: bool = False  # whether anybody has waited for one
    passed: int = -1  # the latest that somebody has seen complete
    arrived_in: int = 0  # the line of the latest arrival
    maker: int | None = None  # the lane that made it, where one did
    # who can see that it is there, by what that lane has called since
    fenced_for: set[Onlooker] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.missing = self.expected

    def arrive(self, count: int = 1, announced: int = 0) -> None:
        """This many threads arrive, and announce this many bytes."""
        self.missing -= count
        self.bytes += announced
        self._go_on()

    def come(self, count: int) -> None:
        """This many bytes have arrived."""
        self.bytes -= count
        self._go_on()

    def _go_on(self) -> None:
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.expected

    def has_passed(self, parity: int) -> bool:
        """Whether the phase before the current one has this parity."""
        return self.phase % 2 != parity % 2


# --- Tensor maps for TMA, and the boxes that are copied -------------------------------------------
# On a GPU the driver makes 128 bytes of that; here a map keeps the array.

WORDS = 16  # of a tensor map, of 64 bits each


class TensorMap(np.ndarray):
    """The description of an array for TMA; in a kernel, 16 uint64."""

    array: np.ndarray  # C-contiguous
    box: tuple[int, ...]  # how many elements are copied at once along each of its axes

    def __new__(cls, array: np.ndarray, box: Sequence[int]) -> Self:
        made = np.zeros(WORDS, np.uint64).view(cls)
        made.array, made.box = array, tuple(box)
        return made

    def __array_finalize__(self, other: Any) -> None:
        if isinstance(other, TensorMap):
            self.array, self.box = other.array, other.box


class Box:
    """One box of an array; outside the array, a load gives zeros, and a store writes nothing.

    `first` is its first element, the innermost axis first.
    """

    def __init__(self, view: ArrayView, sizes: Sequence[int], first: Sequence[int]) -> None:
        self.allocation: Allocation = view.allocation
        shape = tuple(int(length) for length in view.shape)
        grid = np.ogrid[tuple(slice(start, start + size)
                              for start, size in zip(first[::-1], sizes, strict=True))]  # fmt: skip
        inside: Any = np.True_
        cells: Any = np.int64(view.offset)
        for places, length, stride in zip(grid, shape, view.strides, strict=True):
            inside = inside & (places >= 0) & (places < length)
            cells = cells + places * stride
        self._inside = np.broadcast_to(inside, tuple(sizes))
        self._cells = np.broadcast_to(cells, tuple(sizes))
        self.bytes = math.prod(sizes) * self.allocation.dtype.itemsize
        self.width = self.allocation.dtype.itemsize

    def read(self) -> np.ndarray:
        """Its bytes, row after row."""
        found = np.zeros(self._cells.shape, self.allocation.dtype)
        found[self._inside] = self.allocation.storage[self._cells[self._inside]]
        return found.reshape(-1).view(np.uint8)

    def write(self, contents: np.ndarray) -> None:
        """Put bytes there, row after row."""
        new = contents.view(self.allocation.dtype).reshape(self._cells.shape)
        cells = self._cells[self._inside]
        self.allocation.storage[cells] = new[self._inside]
        if self.allocation.written_in is not None:
            self.allocation.written_in[cells] = 0

    @property
    def starts(self) -> np.ndarray:
        """Where those of its elements begin that the array has, in bytes from its beginning."""
        starts: np.ndarray = self._cells[self._inside] * self.allocation.spacing
        return starts
