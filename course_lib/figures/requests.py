"""What one warp asked of memory in one instruction: made up, or taken from a traced launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.figures.footprint import Footprint, footprint_of

# By warp where its threads stand in an access, and their lanes.
Lanes = dict[int, tuple[np.ndarray, np.ndarray]]
NOBODY = np.empty(0, int), np.empty(0, int)


@dataclass(frozen=True)
class Request:
    """One memory instruction of one warp: the byte address that each active lane asks for."""

    title: str
    addresses: Sequence[int] | np.ndarray
    lanes: Sequence[int] | np.ndarray | None = None  # 0, 1, 2, ... unless given
    array: str = ""

    @property
    def active(self) -> Sequence[int] | np.ndarray:
        """The lanes that take part."""
        return range(len(self.addresses)) if self.lanes is None else self.lanes

    def footprint(self, itemsize: int = 4) -> Footprint:
        """What the request touches."""
        return footprint_of(self.addresses, self.active, itemsize)


def addresses_of(
    rows: int | Sequence[int] | np.ndarray,
    columns: int | Sequence[int] | np.ndarray,
    width: int,
    itemsize: int = 4,
) -> np.ndarray:
    """Byte addresses of the elements [row, column] of a row-major matrix `width` elements wide.

    A number stands for 32 equal ones: `addresses_of(range(32), 0, 1024)` walks down column 0.
    """
    row, column = np.broadcast_arrays(np.asarray(rows), np.asarray(columns))
    if row.ndim == 0:
        row, column = np.full(WARP_SIZE, row), np.full(WARP_SIZE, column)
    result: np.ndarray = (row.astype(np.int64) * width + column) * itemsize
    return result


def request_of(
    profile: Any,
    array: str,
    *,
    kind: str = "load",
    line: int | None = None,
    warp: int = 0,
    block: tuple[int, int] = (0, 0),
    occurrence: int = 0,
    title: str = "",
) -> Request:
    """One request of one warp out of a traced launch: `emulate(kernel, trace=True)[...](...)`.

    Args:
        array: the kernel's name for it, "B".
        line: the source line, where several lines access that array.
        warp: which warp of the block, counted from 0.
        block: which block, as (x, y).
        occurrence: 0 for the first time that this warp does it, 1 for the second, ...

    Raises:
        ValueError: if the trace has no such access.
    """
    seen = 0
    for access in traced(profile):
        if (access.kind, access.array) != (kind, array) or line not in (None, access.line):
            continue
        mine, lanes = lanes_by_warp(access.threads, profile.block, block).get(warp, NOBODY)
        if lanes.size and seen == occurrence:
            name = title or f"{kind} of {array}, line {access.line}"
            return Request(name, np.asarray(access.addresses)[mine], lanes, array)
        seen += bool(lanes.size)
    where = f" at line {line}" if line is not None else ""
    raise ValueError(
        f"Warp {warp} of block {block} has no {kind} number {occurrence} of {array}{where}."
    )


def traced(profile: Any) -> Sequence[Any]:
    trace = getattr(profile, "trace", None)
    # An empty trace is right for a kernel that touches nothing, as an unsolved exercise's does.
    if trace is None or (not trace and _touches_memory(profile)):
        raise ValueError(
            "This profile has no trace: launch with course_lib.emulate(kernel, trace=True)."
        )
    result: Sequence[Any] = trace
    return result


def _touches_memory(profile: Any) -> bool:
    counters = ("global_load_requests", "global_store_requests", "shared_load_requests", "atomics")
    return any(getattr(profile, each, 1) for each in counters)


def lanes_by_warp(threads: np.ndarray, shape: Sequence[int], block: Sequence[int]) -> Lanes:
    """Warp of a block (x, y, z) -> where its threads stand in an access, and their lanes."""
    wanted = (*block, 0, 0)[:3][::-1]
    mine = np.flatnonzero((threads[:, :3] == wanted).all(axis=1))
    z, y, x = threads[mine, 3:].T
    size_x, size_y = (*shape, 1, 1)[:2]
    linear = x + size_x * (y + size_y * z)
    warps = linear // WARP_SIZE
    return {
        warp: (mine[warps == warp], linear[warps == warp] % WARP_SIZE)
        for warp in np.unique(warps).tolist()
    }
