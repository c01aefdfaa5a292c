"""Works out what memory accesses cost, many of them at once: a queue that the meter fills."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from course_lib.emulator.observers.stacking import shapes_of, stacked
from course_lib.emulator.profile.cost import (
    GlobalCost,
    SharedCost,
    passes_per_row,
    sectors_per_row,
)
from course_lib.emulator.state.lanes import Mask, Value, joint_shape, spread
from course_lib.emulator.state.memory import Access

Cost = GlobalCost | SharedCost
Told = Callable[[Cost], None]

MAX_REMEMBERED = 4096  # patterns of addresses
# Enough lanes that NumPy's own cost per call does not count, few enough to stay in the cache.
MAX_QUEUED_LANES = 1 << 17


class _Group(NamedTuple):
    """Accesses to one kind of memory that look alike, and the key of each."""

    accesses: list[Access]
    keys: list[Hashable]


class CostQueue:
    """Says what each access cost, once enough of them have come together or `finish` is called.

    Accesses that cost the same have equal keys: such a pattern is looked at once.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Cost] = {}
        self._waiting: dict[Hashable, list[Told]] = {}
        self._groups: dict[Hashable, _Group] = {}
        self._lanes = 0

    def add(self, key: Hashable, access: Access, tell: Told) -> None:
        """`tell` the cost of an access to global or shared memory, now or later."""
        known = self._known.get(key)
        if known is not None:
            tell(known)
        elif key in self._waiting:
            self._waiting[key].append(tell)
        else:
            self._waiting[key] = [tell]
            self._put(key, access)
            if self._lanes >= MAX_QUEUED_LANES:
                self.finish()

    def _put(self, key: Hashable, access: Access) -> None:
        allocation = access.allocation
        sizes = allocation.dtype.itemsize, allocation.spacing
        alike = (allocation.space, sizes, access.elements, *shapes_of(access))
        group = self._groups.get(alike)
        if group is None:
            group = self._groups[alike] = _Group([], [])
        group.accesses.append(access)
        group.keys.append(key)
        self._lanes += most_lanes(access)

    def finish(self) -> None:
        """Tell the costs of all accesses that are waiting."""
        if len(self._known) + len(self._waiting) > MAX_REMEMBERED:
            self._known.clear()
        groups, self._groups, self._lanes = self._groups, {}, 0
        for group in groups.values():
            self._known.update(zip(group.keys, costs_of(group.accesses), strict=True))
        waiting, self._waiting = self._waiting, {}
        for key, told in waiting.items():
            for tell in told:
                tell(self._known[key])


def costs_of(accesses: Sequence[Access]) -> list[Cost]:
    """The cost of each of some accesses that look alike, summed over all its warps."""
    access, count = accesses[0], len(accesses)
    addresses, active, repeats = _rows_of_warps(accesses)

    def of_accesses(of_rows: np.ndarray) -> np.ndarray:
        summed: np.ndarray = of_rows.reshape(count, -1).sum(axis=1)
        return summed * repeats

    requests = of_accesses(np.any(active, axis=1, keepdims=True))
    if access.allocation.space == "global":
        sectors = of_accesses(sectors_per_row(addresses, active, access.width))
        return [GlobalCost(*each) for each in np.stack([requests, sectors], axis=1).tolist()]
    wavefronts, needed = map(of_accesses, passes_per_row(addresses, active, access.width))
    counts = np.stack([requests, wavefronts, wavefronts - needed], axis=1)
    return [SharedCost(*each) for each in counts.tolist()]


def _rows_of_warps(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray, int]:
    """The address of each lane's first byte and whether it takes part, as rows of 32 lanes, one
    access behind the other; and for how many blocks each of the rows stands.
    """
    allocation, space, count = accesses[0].allocation, accesses[0].mask.space, len(accesses)
    cells, active = stacked(accesses)
    starts = np.array([each.allocation.address for each in accesses]).reshape(-1, *(1,) * 6)
    addresses = cells * allocation.spacing + starts
    blocks = tuple(map(max, addresses.shape[1:4], active.shape[1:4]))

    def rows(value: np.ndarray) -> np.ndarray:
        of_blocks = spread(value, (count, *blocks, *value.shape[4:]))
        one_behind_another = of_blocks.reshape(count * blocks[0], *of_blocks.shape[2:])
        return space.warps_of(one_behind_another).reshape(-1, 32)

    return rows(addresses), rows(active), space.block_count // math.prod(blocks)


def most_lanes(access: Access) -> int:
    """How many lanes need a look of their own at most: not those of blocks that are all alike."""
    cell, active = access.cell, access.mask.array
    varies = cell.size if active is None else max(cell.size, active.size)
    space = access.mask.space
    return int(min(space.size, varies * space.block_size))


def over_same_blocks(cell: Value, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """The cells and the mask, both spelled out along the block axes on which either varies."""
    cells = np.asarray(cell).reshape((1,) * 6) if np.ndim(cell) == 0 else np.asarray(cell)
    active = np.ones((1,) * 6, bool) if mask.array is None else mask.array
    blocks = joint_shape(cells, active)[:3]
    return (
        spread(cells, (*blocks, *cells.shape[3:])),
        spread(active, (*blocks, *active.shape[3:])),
    )
