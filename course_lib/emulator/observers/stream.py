"""Records which cache lines each block asks of global memory, for `emulate(..., stream=True)`."""

from __future__ import annotations

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.observers.cost_queue import over_same_blocks
from course_lib.emulator.profile.cost import SECTOR_BYTES
from course_lib.emulator.profile.line_stream import KINDS, SECTORS_PER_LINE, LineStream
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import GLOBAL_BASE, Access, Memory

# 14 bytes each; a longer stream would say nothing that a smaller launch does not say.
MAX_ENTRIES = 20_000_000


class StreamRecorder(Observer):
    """Collects the stream of one launch, space by space."""

    def __init__(self) -> None:
        self._pieces: list[tuple[np.ndarray, ...]] = []
        self._entries = 0
        self._step = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._step = 0  # these blocks begin with their first instruction

    def access(self, access: Access) -> None:
        """Take note of an access, if it is one to global memory."""
        space = access.mask.space
        if access.allocation.space != "global" or access.mask.empty:
            return
        rows, lines, sectors = _lines_of(access, space)
        blocks, entry = _spread(rows, access, space)
        kind = KINDS.index(access.kind)
        self._pieces.append(
            (
                blocks.astype(np.int32),
                np.full(len(blocks), self._step, np.int32),
                lines[entry].astype(np.int32),
                sectors[entry].astype(np.uint8),
                np.full(len(blocks), kind, np.uint8),
            )
        )
        self._step += 1
        self._entries += len(blocks)
        if self._entries > MAX_ENTRIES:
            raise rejection(
                "unsupported",
                "This launch touches too many cache lines for a stream; launch a smaller one.",
                None,
            )

    def finish(self) -> LineStream:
        """The whole stream."""
        if not self._pieces:
            empty = np.zeros(0, np.int32)
            return LineStream(empty, empty, empty, empty, empty)
        return LineStream(*(np.concatenate(column) for column in zip(*self._pieces, strict=True)))


def _lines_of(access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lines that each row (a block that stands for its like) touches, sorted, each once.

    Returns:
        The row, the line and the four sector bits of every entry.
    """
    cells, active = over_same_blocks(access.cell, access.mask)
    shape = np.broadcast_shapes(cells.shape, active.shape)
    row_count = int(np.prod(shape[:3]))
    addresses = cells * access.allocation.spacing + (access.allocation.address - GLOBAL_BASE)
    # An element is aligned to its own size, so that it never lies in two sectors.
    numbers = np.where(active, addresses // SECTOR_BYTES, -1).astype(np.int32)
    numbers = np.sort(np.broadcast_to(numbers, shape).reshape(row_count, -1), axis=1)
    lines = numbers // SECTORS_PER_LINE
    fresh = np.ones(lines.shape, bool)
    fresh[:, 1:] = lines[:, 1:] != lines[:, :-1]
    starts = np.flatnonzero(fresh)
    bits = np.left_shift(1, numbers % SECTORS_PER_LINE).reshape(-1)
    found = np.bitwise_or.reduceat(bits, starts)
    first = lines.reshape(-1)[starts]
    asked = first >= 0  # what is inactive was numbered −1 and sorted to the front
    return (starts // lines.shape[1])[asked], first[asked], found[asked]


def _spread(rows: np.ndarray, access: Access, space: LaneSpace) -> tuple[np.ndarray, np.ndarray]:
    """Which entries belong to which block of the grid, where one row stands for several blocks.

    Returns:
        For every pair that belongs together the block's number and the entry's place.
    """
    cells, _ = over_same_blocks(access.cell, access.mask)
    varying = cells.shape[:3]
    row_numbers = np.arange(int(np.prod(varying))).reshape(*varying, 1, 1, 1)
    row_of_block = np.broadcast_to(row_numbers[..., 0, 0, 0], space.blocks).reshape(-1)
    counts = np.bincount(rows, minlength=int(np.prod(varying)))
    starts = np.cumsum(counts) - counts
    entries = counts[row_of_block]
    before = np.cumsum(entries) - entries
    entry = np.arange(entries.sum()) + np.repeat(starts[row_of_block] - before, entries)
    return np.repeat(space.block_in_grid.reshape(-1), entries), entry
