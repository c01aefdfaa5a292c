"""Say what one request of a warp touches: lines and sectors of memory, bytes used and moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES

Ints = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Footprint:
    """What a request touches."""

    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    width: int
    lines: tuple[int, ...]  # numbers of 128-byte lines, in order
    sectors: tuple[int, ...]  # numbers of 32-byte sectors, in order

    @property
    def used_bytes(self) -> int:
        """Different bytes that the lanes want."""
        return len(set(self.addresses)) * self.width

    @property
    def moved_bytes(self) -> int:
        return len(self.sectors) * SECTOR_BYTES

    @property
    def fewest_sectors(self) -> int:
        """Into how many sectors the wanted bytes would fit."""
        return -(-self.used_bytes // SECTOR_BYTES)

    @property
    def percent(self) -> str:
        """Bytes used as a share of the bytes moved."""
        return f"{100 * self.used_bytes / max(1, self.moved_bytes):.3g} %"

    def lanes_in_line(self, line: int) -> list[int]:
        """The lanes whose element begins in a line."""
        pairs = zip(self.lanes, self.addresses, strict=True)
        return sorted(lane for lane, address in pairs if address // CACHE_LINE_BYTES == line)


def footprint_of(addresses: Ints, lanes: Ints, width: int) -> Footprint:
    """The lines and sectors that a warp's request touches.

    Args:
        addresses: the byte address that each active lane asks for.
        lanes: the active lanes.
        width: bytes per lane.
    """
    first = np.asarray(addresses, dtype=np.int64)
    ends = np.concatenate([first, first + width - 1])
    return Footprint(
        tuple(map(int, lanes)),
        tuple(first.tolist()),
        width,
        tuple(np.unique(ends // CACHE_LINE_BYTES).tolist()),
        tuple(np.unique(ends // SECTOR_BYTES).tolist()),
    )
