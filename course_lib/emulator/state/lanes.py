"""How the threads of many blocks lie side by side in arrays: lanes, warps and masks.

Every array of lanes has six axes: block z, y, x, then thread z, y, x. A value is stored only
along the axes on which it varies; along the others its axis has length 1, and NumPy's
broadcasting does the rest. `cuda.threadIdx.x` of a 16x16 block is 16 numbers, however many
blocks there are, and a value that is the same for all lanes is a plain scalar.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

WARP_SIZE = 32

# A value during emulation: a NumPy scalar, or an array of lanes.
# One scalar where all lanes have the same. NumPy types no arithmetic on np.generic: so it is Any.
Value = np.ndarray | Any


# So many elements are copied in less time than NumPy takes to make a view of them.
_COPIED = 1 << 13


def spread(value: Value, shape: tuple[int, ...]) -> np.ndarray:
    """`np.broadcast_to`, without its costs where there is little or nothing to do; for reading."""
    if value.shape == shape:
        array: np.ndarray = value
        return array
    if math.prod(shape) > _COPIED:
        return np.broadcast_to(value, shape)
    copied = np.empty(shape, value.dtype)
    copied[...] = value
    return copied


def joint_shape(*values: Value) -> tuple[int, ...]:
    """The shape over which values of lanes vary together: `np.broadcast_shapes`, for six axes."""
    return tuple(map(max, *(value.shape or _ONE_LANE for value in values), _ONE_LANE))


_ONE_LANE = (1,) * 6


class LaneSpace:
    """The lanes of some blocks of a grid that are emulated together.

    Args:
        grid: the grid's size, (z, y, x).
        first_block: index of the first block here, (z, y, x).
        blocks: how many blocks are here along each axis.
        threads: the block's size, (z, y, x).
        rows: of blocks that the kernel's own grid has, if a z here is a copy of its launch, and its
            own y and z lie one behind the other along y; else 0.
    """

    def __init__(
        self,
        grid: tuple[int, int, int],
        first_block: tuple[int, int, int],
        blocks: tuple[int, int, int],
        threads: tuple[int, int, int],
        rows: int = 0,
    ) -> None:
        self.grid = grid
        self.rows = rows
        self.first_block = first_block
        self.blocks = blocks
        self.threads = threads
        self.shape = (*blocks, *threads)
        self.block_count = math.prod(blocks)
        self.block_size = math.prod(threads)
        self.size = self.block_count * self.block_size
        self.warps_per_block = -(-self.block_size // WARP_SIZE)
        self.warp_count = self.block_count * self.warps_per_block

    def along(self, axis: int, start: int = 0) -> Value:
        """The numbers start, start + 1, … along one axis; a scalar if the axis has length 1."""
        length = self.shape[axis]
        if length == 1:
            return np.int32(start)
        shape = [1] * 6
        shape[axis] = length
        return np.arange(start, start + length, dtype=np.int32).reshape(shape)

    @cached_property
    def thread_index(self) -> tuple[Value, Value, Value]:
        """threadIdx as (z, y, x)."""
        return self.along(3), self.along(4), self.along(5)

    @cached_property
    def place(self) -> tuple[Value, Value, Value]:
        """Of each block in this grid, (z, y, x); of copies, z is the number of the copy."""
        first = self.first_block
        return self.along(0, first[0]), self.along(1, first[1]), self.along(2, first[2])

    @cached_property
    def block_index(self) -> tuple[Value, Value, Value]:
        """blockIdx as (z, y, x)."""
        z, y, x = self.place
        return (y // self.rows, y % self.rows, x) if self.rows else (z, y, x)

    @cached_property
    def grid_size(self) -> tuple[int, int, int]:
        """gridDim as (z, y, x)."""
        _, high, wide = self.grid
        return (high // self.rows, self.rows, wide) if self.rows else self.grid

    @cached_property
    def thread_in_block(self) -> np.ndarray:
        """Each thread's number within its block; 32 neighbours form a warp. Shape (1,1,1,z,y,x)."""
        return np.arange(self.block_size, dtype=np.int64).reshape(1, 1, 1, *self.threads)

    @cached_property
    def block_here(self) -> np.ndarray:
        """Each block's number among the blocks of this space. Shape (z,y,x,1,1,1)."""
        return np.arange(self.block_count, dtype=np.int64).reshape(*self.blocks, 1, 1, 1)

    @cached_property
    def block_in_grid(self) -> np.ndarray:
        """Each block's number in the whole grid. Shape (z,y,x,1,1,1)."""
        z, y, x = (np.asarray(index, dtype=np.int64) for index in self.place)
        number = (z * self.grid[1] + y) * self.grid[2] + x
        return np.broadcast_to(number, (*self.blocks, 1, 1, 1))

    @cached_property
    def lane_number(self) -> np.ndarray:
        """A number for every lane of this space. Shape of the whole space."""
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def warps_of(self, value: Value, fill: Any = 0) -> np.ndarray:
        """`value` as rows of 32 lanes, one row a warp: shape (blocks it varies over, warps, 32).

        The lanes that a block's last warp lacks are filled with `fill`. Along block axes on which
        `value` does not vary, one block stands for all; see `repeats`.
        """
        array = np.asarray(value)
        if array.ndim == 0:
            array = array.reshape((1,) * 6)
        varying = array.shape[:3]
        rows = spread(array, (*varying, *self.threads)).reshape(-1, self.block_size)
        lacking = self.warps_per_block * WARP_SIZE - self.block_size
        if lacking:
            whole = np.full((len(rows), self.block_size + lacking), fill, rows.dtype)
            whole[:, : self.block_size] = rows
            rows = whole
        return rows.reshape(-1, self.warps_per_block, WARP_SIZE)

    def from_warps(self, rows: np.ndarray) -> np.ndarray:
        """The inverse of `warps_of` for values of all blocks: an array of the space's shape."""
        return rows.reshape(self.block_count, -1)[:, : self.block_size].reshape(self.shape)

    def repeats(self, value: Value) -> int:
        """For how many blocks each block of `warps_of(value)` stands."""
        result: int = self.block_count // math.prod(np.shape(value)[:3])
        return result

    def describe(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread of a lane number, each as (x, y, z)."""
        bz, by, bx, tz, ty, tx = (int(i) for i in np.unravel_index(lane, self.shape))
        fz, fy, fx = self.first_block
        return (bx + fx, by + fy, bz + fz), (tx, ty, tz)


class Mask:
    """Which lanes are active. `array` is None if all are; otherwise booleans that broadcast."""

    def __init__(self, space: LaneSpace, array: np.ndarray | None = None) -> None:
        self.space = space
        self.array = array
        self._lanes: int | None = None

    @classmethod
    def of(cls, space: LaneSpace, active: Value) -> Mask:
        """The mask of the lanes where `active` is true; None is used where all are."""
        array = np.asarray(active)
        if array.ndim == 0:
            return cls(space, None if array else np.zeros((1,) * 6, bool))
        # For few lanes count_nonzero takes a quarter of the time of all() or any().
        count = int(np.count_nonzero(array))
        mask = cls(space, None if count == array.size else array)
        mask._lanes = count * (space.size // array.size)
        return mask

    @property
    def lanes(self) -> int:
        """How many lanes are active."""
        if self._lanes is None:  # asked so often that cached_property's lock would count
            array = self.array
            self._lanes = self.space.size
            if array is not None:
                self._lanes = int(np.count_nonzero(array)) * (self.space.size // array.size)
        return self._lanes

    @cached_property
    def warps(self) -> int:
        """How many warps have an active lane."""
        if self.array is None:
            return self.space.warp_count
        rows = self.space.warps_of(self.array, False)
        return int(np.count_nonzero(rows.any(axis=2))) * self.space.repeats(self.array)

    @cached_property
    def lanes_by_block(self) -> np.ndarray:
        """How many lanes of each block are active, in the blocks' order."""
        result: np.ndarray = np.count_nonzero(
            self.full_array.reshape(self.space.block_count, -1), axis=1
        )
        return result

    @cached_property
    def in_blocks_of_z(self) -> np.ndarray:
        """In which z of the blocks a lane is active."""
        array = np.ones((1,) * 6, bool) if self.array is None else self.array
        return np.broadcast_to(array.any(axis=(1, 2, 3, 4, 5)), self.space.blocks[0])

    @property
    def empty(self) -> bool:
        """Whether no lane is active."""
        return self.array is not None and self.lanes == 0

    @cached_property
    def fingerprint(self) -> bytes:
        """Equal for equal masks of one space."""
        if self.array is None:
            return b"all"
        return repr(self.array.shape).encode() + np.packbits(self.array).tobytes()

    @cached_property
    def full_array(self) -> np.ndarray:
        """The mask with one boolean for every lane."""
        array = np.ones((1,) * 6, bool) if self.array is None else self.array
        return spread(array, self.space.shape)

    def where(self, condition: Value) -> Mask:
        """The active lanes where `condition` (booleans) holds."""
        array = np.asarray(condition)
        if array.ndim == 0:
            return self if array else Mask.of(self.space, np.False_)
        if self.array is None:
            return Mask.of(self.space, array)
        return self._smaller(self.array & array)

    def without(self, other: Mask) -> Mask:
        """The lanes active here but not in `other`."""
        if other.array is None:
            return Mask.of(self.space, np.False_)
        if self.array is None:
            return Mask.of(self.space, ~other.array)
        return self._smaller(self.array & ~other.array)

    def union(self, other: Mask) -> Mask:
        """The lanes active in either."""
        if self.array is None or other.empty:
            return self
        if other.array is None or self.empty:
            return other
        return Mask.of(self.space, self.array | other.array)

    def _smaller(self, array: np.ndarray) -> Mask:
        # The same object is returned where nothing changed, so that "is" tells cheaply.
        smaller = Mask(self.space, array)
        return self if smaller.lanes == self.lanes else smaller
