"""What TMA and mbarriers do, as the PTX ISA has it: shared by both stand-ins for a Hopper GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class Wrong(Exception):
    """The kernel does what the PTX ISA leaves undefined."""


@dataclass
class TensorMap:
    """What TMA is told of an array: outermost axis first, as NumPy has it."""

    array: np.ndarray
    box: tuple[int, ...]

    @property
    def box_bytes(self) -> int:
        """The size of a box in shared memory."""
        return int(np.prod(self.box)) * self.array.itemsize

    def fetch(self, start: Sequence[int], shared: np.ndarray, address: int) -> None:
        """Copy the box from `start` on to shared memory, with zeros outside the array."""
        box = np.zeros(self.box, self.array.dtype)
        inside, there = self._overlap(start)
        box[inside] = self.array[there]
        shared[swizzled(address, self.box_bytes)] = box.reshape(-1).view(np.uint8)

    def store(self, start: Sequence[int], shared: np.ndarray, address: int) -> None:
        """Copy a box from shared memory to the array, as much of it as lies inside."""
        data = shared[swizzled(address, self.box_bytes)]
        inside, there = self._overlap(start)
        self.array[there] = data.view(self.array.dtype).reshape(self.box)[inside]

    def _overlap(self, start: Sequence[int]) -> tuple[tuple[slice, ...], ...]:
        inside, there = [], []
        for first, size, wide in zip(start, self.array.shape, self.box, strict=True):
            low, high = max(first, 0), max(min(first + wide, size), max(first, 0))
            inside.append(slice(low - first, high - first))
            there.append(slice(low, high))
        return tuple(inside), tuple(there)


def swizzled(address: int, count: int) -> np.ndarray:
    """Where the bytes of a box with the 128-byte swizzle lie, in the order of its elements."""
    if address % 128:
        raise Wrong(f"a swizzled box begins at {address}, no multiple of 128")
    return swizzle(address + np.arange(count))


def swizzle(addresses: np.ndarray) -> np.ndarray:
    """The 128-byte swizzle: address bits 4 to 6 XOR bits 7 to 9."""
    return addresses ^ (addresses >> 7 & 7) << 4


@dataclass
class Barrier:
    """An mbarrier: arrivals and bytes that its phase still waits for."""

    count: int
    pending: int = 0
    phase: int = 0
    tx: int = 0

    def __post_init__(self) -> None:
        self.pending = self.count

    def change(self, arrivals: int, count: int) -> None:
        """So many arrivals, and so many bytes more to wait for: less than 0 where they came."""
        self.pending -= arrivals
        self.tx += count
        if self.pending < 0:
            raise Wrong("more arrivals at an mbarrier than its phase expects")
        if self.pending == 0 and self.tx == 0:
            self.phase, self.pending = self.phase + 1, self.count
