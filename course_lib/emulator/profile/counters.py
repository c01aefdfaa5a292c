"""All counters of the emulator, in total and for one line, with their meaning; and cache lines."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from course_lib.emulator.profile.request_costs import SECTOR_BYTES


@dataclass
class Counters:
    """Counts with the meaning that Nsight Compute gives them, summed over the whole launch.

    Memory is counted per warp instruction: a request is one warp's access, a sector 32 bytes of
    global memory, a wavefront one pass through shared memory. Bytes are those that the threads
    asked for. A FLOP is counted for every active lane; a fused multiply-add is two. `tensor_flops`
    are those of tensor cores.
    `barriers` counts the blocks that passed one; branches are counted per warp.
    """

    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_load_bank_conflicts: int = 0
    shared_load_bytes: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_bank_conflicts: int = 0
    shared_store_bytes: int = 0
    local_load_requests: int = 0
    local_store_requests: int = 0
    atomics: int = 0
    flops: int = 0
    float64_flops: int = 0
    tensor_flops: int = 0
    barriers: int = 0
    branches: int = 0
    divergent_branches: int = 0
    executed: int = 0
    active_lanes: int = 0

    @property
    def branch_efficiency(self) -> float:
        """Branches on which a warp's lanes agreed, as a share of all branches; 1.0 without any."""
        return 1.0 - self.divergent_branches / self.branches if self.branches else 1.0

    @property
    def global_load_sectors_per_request(self) -> float:
        """Sectors per request of global loads: 4 is ideal for a warp's float32; 0 without any."""
        return _ratio(self.global_load_sectors, self.global_load_requests)

    @property
    def global_store_sectors_per_request(self) -> float:
        """Sectors per request of global stores."""
        return _ratio(self.global_store_sectors, self.global_store_requests)

    def add(self, other: Counters) -> None:
        """Add the counts of `other`."""
        for field in fields(Counters):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass
class LineCounters(Counters):
    """The counters of one source line."""


# --- The cache lines that a launch asks of global memory, in order --------------------------------
# One entry is one 128-byte line that one memory instruction of one block touches, with a bit for
# each of its four sectors. The 32 lanes of a warp and the warps of a block are merged already:
# within one instruction a second request for a sector is a hit whatever the cache.


LINE_BYTES = 128
SECTORS_PER_LINE = LINE_BYTES // SECTOR_BYTES
KINDS = ("load", "store", "atomic")


@dataclass(frozen=True, eq=False)
class LineStream:
    """The lines that a launch asked for; all arrays have one element an entry."""

    blocks: np.ndarray  # the block's number in the grid, x fastest
    steps: np.ndarray  # which memory instruction of its block it was: 0, 1, 2, …
    lines: np.ndarray  # the line's number, byte address / 128
    sectors: np.ndarray  # four bits, one for each sector of the line that was asked for
    kinds: np.ndarray  # an index into KINDS

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def block_count(self) -> int:
        """How many blocks there are, as far as the stream shows."""
        return int(self.blocks.max()) + 1 if len(self) else 0
