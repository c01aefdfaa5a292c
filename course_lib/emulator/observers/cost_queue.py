"""Works out what memory accesses cost, many of them at once: a queue that the meter fills."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np

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
# Enough warps that NumPy's own cost per call does not count, few enough to stay in the cache.
MAX_QUEUED_ROWS = 4096


@dataclass
class _Group:
    """Accesses to one kind of memory, of one width: rows of warps, one access behind another.

    `repeats` says for how many blocks each access's rows stand; `keys` name the accesses.
    """

    addresses: list[np.ndarray] = field(default_factory=list)
    active: list[np.ndarray] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)
    keys: list[Hashable] = field(default_factory=list)


class CostQueue:
    """Says what each access cost, once enough of them have come together or `finish` is called.

    Accesses that cost the same have equal keys: such a pattern is looked at once.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Cost] = {}
        self._waiting: dict[Hashable, list[Told]] = {}
        self._groups: dict[tuple[str, int], _Group] = {}
        self._rows = 0

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
            if self._rows >= MAX_QUEUED_ROWS:
                self.finish()

    def _put(self, key: Hashable, access: Access) -> None:
        kind = (access.allocation.space, access.width)
        group = self._groups.get(kind)
        if group is None:
            group = self._groups[kind] = _Group()
        addresses, active, repeats = warps_of(access)
        group.addresses.append(addresses)
        group.active.append(active)
        group.repeats.append(repeats)
        group.keys.append(key)
        self._rows += len(addresses)

    def finish(self) -> None:
        """Tell the costs of all accesses that are waiting."""
        if len(self._known) + len(self._waiting) > MAX_REMEMBERED:
            self._known.clear()
        groups, self._groups, self._rows = self._groups, {}, 0
        for (space, width), group in groups.items():
            self._known.update(zip(group.keys, _costs(space, width, group), strict=True))
        waiting, self._waiting = self._waiting, {}
        for key, told in waiting.items():
            for tell in told:
                tell(self._known[key])


def _costs(space: str, width: int, group: _Group) -> list[Cost]:
    """What each access of a group cost."""
    addresses, active = np.concatenate(group.addresses), np.concatenate(group.active)
    first_rows = np.cumsum([0, *map(len, group.addresses[:-1])])

    def of_accesses(of_rows: np.ndarray) -> np.ndarray:
        summed: np.ndarray = np.add.reduceat(of_rows, first_rows, dtype=np.int64)
        return summed * group.repeats

    requests = of_accesses(active.any(axis=1))
    if space == "global":
        sectors = of_accesses(sectors_per_row(addresses, active, width))
        return [GlobalCost(*each) for each in np.stack([requests, sectors], axis=1).tolist()]
    wavefronts, needed = map(of_accesses, passes_per_row(addresses, active, width))
    counts = np.stack([requests, wavefronts, wavefronts - needed], axis=1)
    return [SharedCost(*each) for each in counts.tolist()]


def warps_of(access: Access) -> tuple[np.ndarray, np.ndarray, int]:
    """The address of each lane's first byte and whether it takes part, as rows of 32 lanes; and
    for how many blocks each of the rows stands.
    """
    allocation, space = access.allocation, access.mask.space
    cell, taking_part = over_same_blocks(access.cell, access.mask)
    # int64: Numba's indices may be narrower than an address.
    addresses = np.asarray(cell, np.int64) * allocation.dtype.itemsize + allocation.address
    rows = space.warps_of(addresses).reshape(-1, 32)
    return rows, space.warps_of(taking_part, False).reshape(-1, 32), space.repeats(addresses)


def over_same_blocks(cell: Value, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """The cells and the mask, both spelled out along the block axes on which either varies."""
    cells = np.asarray(cell).reshape((1,) * 6) if np.ndim(cell) == 0 else np.asarray(cell)
    active = np.ones((1,) * 6, bool) if mask.array is None else mask.array
    blocks = joint_shape(cells, active)[:3]
    return (
        spread(cells, (*blocks, *cells.shape[3:])),
        spread(active, (*blocks, *active.shape[3:])),
    )
