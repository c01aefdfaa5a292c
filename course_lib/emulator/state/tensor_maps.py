"""Tensor maps: what the host tells TMA of an array, and the boxes of it that are copied.

On a GPU the driver makes 128 bytes of that; here a map keeps the array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from course_lib.emulator.state.memory import Allocation, ArrayView

WORDS = 16  # of a tensor map, of 64 bits each


class TensorMap(np.ndarray):
    """A description of an array for TMA: to a kernel 16 uint64."""

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
    """One box of an array; outside of it, a load gives zeros, and a store leaves out.

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
