"""The cache lines that a launch asks of global memory, in order: what a cache would see.

One entry is one 128-byte line that one memory instruction of one block touches, with a bit for each
of its four sectors. The 32 lanes of a warp and the warps of a block are merged already: within one
instruction a second request for a sector is a hit whatever the cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.emulator.profile.cost import SECTOR_BYTES

LINE_BYTES = 128
SECTORS_PER_LINE = LINE_BYTES // SECTOR_BYTES
KINDS = ("load", "store", "atomic")


@dataclass(frozen=True, eq=False)
class LineStream:
    """The lines that a launch asked for; all arrays have one element an entry.

    Attributes:
        blocks: the block's number in the grid, x fastest.
        steps: which memory instruction of its block it was: 0, 1, 2, …
        lines: the line's number, byte address / 128.
        sectors: four bits, one for each sector of the line that was asked for.
        kinds: an index into KINDS.
    """

    blocks: np.ndarray
    steps: np.ndarray
    lines: np.ndarray
    sectors: np.ndarray
    kinds: np.ndarray

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def block_count(self) -> int:
        """How many blocks there are, as far as the stream shows."""
        return int(self.blocks.max()) + 1 if len(self) else 0
