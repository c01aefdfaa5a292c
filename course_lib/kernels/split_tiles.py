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

M. Osama, D. Merrill, C. Cecka, M. Garland, J. Owens: "Stream-K: Work-centric Parallel Decomposition
for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4, store4, unroll, unrolled

GROUPS = 2  # warpgroups that share a tile, one below the other
GROUP = 128  # threads of one, each with 128 of its 64 x 256 sums
PIECE = GROUP * 128  # partial sums of a warpgroup

# What the workspace and the second kernel cost, in steps of k. A last turn is split if that saves
# more than this.
COST = 12


# --- whose work is what -----------------------------------------------------------------------


@cuda.jit(device=True)
def share_of_work(worker, workers, split, steps):
    """What a worker has to do: its part of the split tiles, and then whole ones.

    Returns where its part begins and ends, in steps laid end to end, and its first whole tile.
    """
    everything = split * steps
    begin, end = worker * everything // workers, np.uint32(worker + 1) * everything // workers
    return np.uint32(begin), np.uint32(end), np.uint32(split + worker)


@cuda.jit(device=True)
def next_piece(begin, end, number, workers, steps):
    """A tile, from which step of k to which, and the work that is left: `begin` and `number`."""
    if begin < end:
        k = np.uint32(begin % steps)
        stop = np.uint32(min(steps, np.uint32(k + end - begin)))
        return np.uint32(begin // steps), k, stop, np.uint32(begin + stop - k), np.uint32(number)
    after = np.uint32(number + workers)
    return np.uint32(number), np.uint32(0), np.uint32(steps), np.uint32(begin), after


def tiles_to_split(tiles: int, workers: int, steps: int) -> int:
    """How many tiles are split: all of the last turn, or none. `steps` are those of k in a tile."""
    left_over = tiles % workers
    saved = steps - steps * left_over / workers
    return left_over if left_over and saved > COST else 0


# --- partial sums -----------------------------------------------------------------------------


@lru_cache(maxsize=8)
def workspace(pieces: int, stream: Any = 0) -> Any:
    """Room for so many warpgroups' partial sums, on the GPU.

    Launches on the same stream follow each other and share it.
    """
    return cuda.device_array(pieces * PIECE, np.float32)


@cuda.jit(device=True)
@unrolled
def keep(sums, workspace, piece, thread):
    """Write a warpgroup's partial sums: 32 stores of 16 bytes, neighbours side by side."""
    at = np.uint32(piece * PIECE + 4 * thread)
    for j in unroll(32):
        four = sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]
        store4(workspace, at + j * (4 * GROUP), four)


def make_adding(place: Any, rounded: Any) -> Any:
    """The second kernel: for each tile it adds up the pieces, and stores the results.

    Launched with a block of 128 threads for 8 of a tile's 256 columns (x), and for each warpgroup
    of each split tile (y). `place(tile, down, across, cluster)` says where a tile lies, and
    `rounded(value)` makes a float32 what C holds.
    """

    @cuda.jit
    def add_up(workspace, C, down, across, split, steps, workers, cluster):
        j, thread = cuda.blockIdx.x, cuda.threadIdx.x
        tile, part = cuda.blockIdx.y // (cluster * GROUPS), cuda.blockIdx.y % (cluster * GROUPS)
        everything = split * steps
        # The worker whose part holds the tile's first step, and the one with its last.
        first = ((tile * steps + 1) * workers - 1) // everything
        last = ((tile + 1) * steps * workers - 1) // everything
        a = b = c = d = float32(0)
        for worker in range(first, last + 1):
            if worker * everything // workers < (worker + 1) * everything // workers:
                piece = (tile + worker) * cluster * GROUPS + part
                four = load4(workspace, piece * PIECE + j * (4 * GROUP) + 4 * thread)
                a, b, c, d = a + four[0], b + four[1], c + four[2], d + four[3]
        row, column = place(np.uint32(tile), np.uint32(down), np.uint32(across), cluster)
        y = (row * cluster * GROUPS + part) * 64 + thread // 32 * 16 + thread % 32 // 4
        x = column * 256 + j * 8 + thread % 4 * 2
        for below, left, right in ((0, a, b), (8, c, d)):
            if y + below < C.shape[0] and x < C.shape[1]:  # which is even
                C[y + below, x] = rounded(left)
                C[y + below, x + 1] = rounded(right)

    return add_up
