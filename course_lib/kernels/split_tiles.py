"""Tiles that all blocks compute together, so that nobody waits for the last turn (stream-K).

Why: 132 blocks that stay on their SMs take one tile after the other. 800 tiles are six turns and
eight tiles: in the seventh turn 124 SMs have nothing to do. So these eight are **split**: their
steps of k, laid end to end, are cut into equal parts, one for each worker (a block, or a cluster).
A part may end in the middle of one tile and begin in the next.

    steps of three tiles   |-------------|-------------|-------------|
    parts of four workers  |0        |1        |2        |3          |
    partial sums           |0 in 0   |1|1 in 1 |2    |2 in 2|3 in 2  |

Each piece gives partial sums of a tile. They go to a **workspace** in global memory, and a second
kernel adds up what belongs to a tile, in the order of k, so that every run gives the same bits.
That it is a second kernel is the point: only the end of the first one is a barrier for all blocks.
Where all of this pays, `course_lib.kernels.tile_plan` says.

The pieces of a tile lie in the workspace as many places apart as there are warpgroups' parts in it:
the piece of a worker in a tile has the number worker + tile, and no two have the same.

M. Osama, D. Merrill, C. Cecka, M. Garland, J. Owens: "Stream-K: Work-centric Parallel Decomposition
for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4

ROWS, COLUMNS = 64, 256  # of a piece: what a warpgroup holds of a tile; a narrow one leaves room
ADDING = 128  # threads of a block that adds up two rows of pieces, four neighbours a thread


# --- whose work is what -----------------------------------------------------------------------


@cuda.jit(device=True)
def share_of_work(split, steps, cluster):
    """What this worker has to do: its part of the split tiles, and then whole ones.

    Returns where its part begins and ends, in steps laid end to end, its first whole tile, and how
    many workers there are, which is how far it is to the next one.
    """
    worker, workers = cuda.blockIdx.x // cluster, np.uint32(cuda.gridDim.x // cluster)
    everything = split * steps
    begin = np.uint32(worker) * everything // workers
    end = np.uint32(worker + 1) * everything // workers
    return np.uint32(begin), np.uint32(end), np.uint32(split + worker), workers


@cuda.jit(device=True)
def next_piece(begin, end, number, workers, steps):
    """A tile, from which step of k to which, and the work that is left: `begin` and `number`."""
    if begin < end:
        k = np.uint32(begin % steps)
        stop = np.uint32(min(steps, np.uint32(k + end - begin)))
        return np.uint32(begin // steps), k, stop, np.uint32(begin + stop - k), np.uint32(number)
    after = np.uint32(number + workers)
    return np.uint32(number), np.uint32(0), np.uint32(steps), np.uint32(begin), after


# --- partial sums -----------------------------------------------------------------------------


def workspace(pieces: int, stream: Any = 0) -> Any:
    """Room for so many warpgroups' partial sums on the GPU, one below the other: (rows, 256).

    Launches on the same stream of the same GPU follow each other and share it.
    """
    return _workspace(pieces, stream, int(cuda.get_current_device().id))


@lru_cache(maxsize=8)
def _workspace(pieces: int, stream: Any, gpu: int) -> Any:
    return cuda.device_array((pieces * ROWS, COLUMNS), np.float32)


def make_adding(place: Any, rounded: Any, columns: int) -> Any:
    """The second kernel: for each tile it adds up the pieces, and stores the results.

    Launched with blocks of 128 threads, one for two rows of a piece (x) and each warpgroup's part
    of each split tile (y); `parts` of them are one below the other, `columns` wide. `place(tile,
    down, across, parts)` says where a tile lies; `rounded(value)` makes a float32 what C holds.
    """

    @cuda.jit
    def add_up(workspace, C, down, across, split, steps, workers, parts):
        i = cuda.blockIdx.x * 2 + cuda.threadIdx.x // 64
        j = cuda.threadIdx.x % 64 * 4
        tile, part = cuda.blockIdx.y // parts, cuda.blockIdx.y % parts
        # The worker whose share holds the tile's first step, and the one with its last.
        first = ((tile * steps + 1) * workers - 1) // (split * steps)
        last = ((tile + 1) * steps * workers - 1) // (split * steps)
        if first == last:  # who computed all of it has stored it
            return
        a = b = c = d = float32(0)
        at = np.int64((((tile + first) * parts + part) * ROWS + i) * COLUMNS + j)
        for _ in range(last - first + 1):
            four = load4(workspace, at)
            a, b, c, d = a + four[0], b + four[1], c + four[2], d + four[3]
            at += parts * (ROWS * COLUMNS)
        row, column = place(np.uint32(tile), np.uint32(down), np.uint32(across), parts)
        y, x = (row * parts + part) * ROWS + i, column * columns + j
        if j < columns and y < C.shape[0] and x < C.shape[1]:  # which is a multiple of 4
            C[y, x], C[y, x + 1] = rounded(a), rounded(b)
            C[y, x + 2], C[y, x + 3] = rounded(c), rounded(d)

    return add_up
