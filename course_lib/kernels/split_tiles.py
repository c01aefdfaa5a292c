"""Tiles that several blocks compute together, so that nobody waits for the last turn (split-K).

Why: 132 blocks that stay on their SMs take one tile after the other. 800 tiles are six turns and
eight tiles: in the seventh turn 124 SMs have nothing to do. So these eight are **split**: the steps
of k of each are cut into 16 equal parts, and 128 workers (a worker is a block, or a cluster) have
one each.

    steps of two tiles      |-------------------|-------------------|
    parts of seven workers  |0     |2     |4    |1     |3     |5    |  6: nothing

Neighbours have the same steps of different tiles, and with them rows of A or columns of B in
common, which L2 then sends to several SMs at once.

Each part gives partial sums of a tile. They go to a **workspace** in global memory, and a second
kernel adds up what belongs to a tile, in the order of k, so that every run gives the same bits.
That it is a second kernel is the point: only the end of the first one is a barrier for all blocks.
Where all of this pays, `course_lib.kernels.tile_plan` says.

Stream-K deals out the steps of all these tiles as one row, so nobody is left over, but some workers
have parts of two tiles, and store twice: on an H200 everyone waits longer for them.
M. Osama, D. Merrill, C. Cecka, M. Garland, J. Owens: "Stream-K: Work-centric Parallel Decomposition
for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    grid_dependency_sync,
    load4,
    trigger_next_launch,
    unroll,
    unrolled,
)

ROWS, COLUMNS = 64, 256  # of a piece: what a warpgroup holds of a tile; a narrow one leaves room
ADDING = 128  # threads of a block that adds up two rows of pieces, four neighbours a thread
AT_ONCE = 8  # loads of a thread that are under way together


# --- Who computes what -------------------------------------------------------------------------


def parts(split: int, steps: int, workers: int) -> Iterator[tuple[int, int, int, int]]:
    """What each worker does of the split tiles: tile, first step of k and the one behind the last.

    The fourth is the part's number; those of a tile have numbers in a row. Every tile has as many
    parts as the others, each with one step at least, so the last workers may get none. With fewer
    than two workers a tile there is one part, all of it.
    """
    shares = max(1, min(workers // split if split else 1, steps))
    for share in range(shares):
        first, stop = share * steps // shares, (share + 1) * steps // shares
        for tile in range(split):
            yield tile, first, stop, tile * shares + share


# --- Partial sums ------------------------------------------------------------------------------


def workspace(pieces: int, stream: Any = 0) -> Any:
    """Room for so many warpgroups' partial sums on the GPU, one below the other: (rows, 256).

    Launches on the same stream of the same GPU follow each other and share it.
    """
    return _workspace(pieces, stream, int(cuda.get_current_device().id))


@lru_cache(maxsize=8)
def _workspace(pieces: int, stream: Any, gpu: int) -> Any:
    return cuda.device_array((pieces * ROWS, COLUMNS), np.float32)


def make_adding(rounded: Any) -> Any:
    """The second kernel: for each tile it adds up the pieces, and stores the results.

    Launched with blocks of 128 threads, one for two rows of a piece (x) and each warpgroup's part
    of each split tile (y). A row of `tiles` says where the tile lies, the number of its first piece
    and how many there are: the others have the next numbers. `parts` warpgroups have computed it,
    one below the other, `columns` wide. `rounded(value)` makes a float32 what C holds.
    """

    @cuda.jit
    @unrolled
    def add_up(workspace, C, tiles, parts, columns):
        trigger_next_launch()
        row = cuda.blockIdx.x * 2 + cuda.threadIdx.x // 64
        j = cuda.threadIdx.x % 64 * 4
        tile, part = cuda.blockIdx.y // parts, cuda.blockIdx.y % parts
        top, left, number, count = load4(tiles, tile * 4)
        y, x = top + part * ROWS + row, left + j
        if j >= columns or y >= C.shape[0] or x >= C.shape[1]:
            return
        grid_dependency_sync()
        a = b = c = d = float32(0)
        at = ((np.int64(number) * parts + part) * ROWS + row) * COLUMNS + j
        further = np.int64(parts) * (ROWS * COLUMNS)
        for _ in range(count // AT_ONCE):
            for i in unroll(AT_ONCE):
                e = load4(workspace, at + i * further)
                a, b, c, d = a + e[0], b + e[1], c + e[2], d + e[3]
            at += AT_ONCE * further
        for _ in range(count % AT_ONCE):
            e = load4(workspace, at)
            a, b, c, d = a + e[0], b + e[1], c + e[2], d + e[3]
            at += further
        C[y, x], C[y, x + 1] = rounded(a), rounded(b)  # C has a multiple of 4 columns
        C[y, x + 2], C[y, x + 3] = rounded(c), rounded(d)

    return add_up
