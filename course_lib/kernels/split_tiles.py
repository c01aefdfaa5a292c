"""Tiles that all blocks compute together, so that nobody waits for the last turn (stream-K).

Why: 132 blocks that stay on their SMs take one tile after the other. 800 tiles are six turns and
eight tiles: in the seventh turn 124 SMs have nothing to do. So these eight are **split**: their
steps of k, laid end to end, are cut into equal pieces, one for each block. A piece may end in the
middle of one tile and begin in the next.

A piece gives partial sums. They are added to a **workspace** in global memory, by atomics, with a
count of the steps that are in. Whoever brings a tile's count to all its steps is the last: it takes
the sums, leaves zeros for the next launch, and stores the tile as if it had computed it alone. No
block ever waits for another one. Pieces come first, so that the adding up is hidden behind whole
tiles. The order in which sums are added changes from run to run, and the last bits with it.

M. Osama, D. Merrill, C. Cecka, M. Garland, J. Owens: "Stream-K: Work-centric Parallel Decomposition
for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import cuda

from course_lib.intrinsics import group_sync, unroll, unrolled

SUMS = 128  # of each of the 128 threads of a warpgroup
GROUPS = 2  # warpgroups that share a tile, one below the other

# What adding up costs, in steps of k: a last turn is split if that saves more.
COST = 12


# --- on the GPU -------------------------------------------------------------------------------


@cuda.jit(device=True)
def share_of_work(worker, workers, split, steps):
    """What a block, or a cluster, has to do: its part of the split tiles, and whole ones after it.

    Returns where its part begins and ends, in steps laid end to end, and its first whole tile.
    """
    everything = split * steps
    begin, after = worker * everything // workers, np.uint32(worker + 1) * everything // workers
    return np.uint32(begin), np.uint32(after), np.uint32(split + worker)


@cuda.jit(device=True)
def next_piece(begin, end, number, workers, steps):
    """A tile, from which step of k to which, and the work that is left: `begin` and `number`."""
    if begin < end:
        k = np.uint32(begin % steps)
        stop = np.uint32(min(steps, np.uint32(k + end - begin)))
        return np.uint32(begin // steps), k, stop, np.uint32(begin + stop - k), np.uint32(number)
    after = np.uint32(number + workers)
    return np.uint32(number), np.uint32(0), np.uint32(steps), np.uint32(begin), after


@cuda.jit(device=True)
@unrolled
def last_to_add(sums, done, steps, partial, place, shared, flag, group, thread):
    """Add a warpgroup's partial sums of `done` steps; True if it now holds those of all steps.

    `place` numbers the warpgroups' parts of all split tiles. `flag` is the index of a byte of
    shared memory, by which one thread tells the others of its warpgroup who was last.
    """
    partial_sums, steps_done = partial
    at = np.uint32(place * (SUMS * 128) + thread)
    for j in unroll(128):
        cuda.atomic.add(partial_sums, at + j * 128, sums[j])
    cuda.threadfence()  # the sums are in before the count says so
    group_sync(group + 1, 128)
    if thread == 0:
        shared[flag] = cuda.atomic.add(steps_done, place, done) + done == steps
        cuda.threadfence()  # and whoever was last sees everybody's
    group_sync(group + 1, 128)
    if shared[flag] == 0:
        return False
    for j in unroll(128):
        sums[j] = partial_sums[at + j * 128]
        partial_sums[at + j * 128] = 0
    if thread == 0:
        steps_done[place] = 0
    return True


# --- on the host ------------------------------------------------------------------------------


def tiles_to_split(tiles: int, workers: int, steps: int) -> int:
    """How many tiles are split: all of the last turn, or none.

    `workers` are the blocks (or clusters) that stay, `steps` those of k that a tile takes.
    """
    left_over = tiles % workers
    saved = steps - steps * left_over / workers
    return left_over if left_over and saved > COST else 0


@lru_cache(maxsize=8)
def workspace(places: int, stream: Any = 0) -> tuple[Any, Any]:
    """Sums and counts for so many warpgroups' parts of tiles, on the GPU, all 0.

    Launches on the same stream follow each other and may share it: each leaves it as it was.
    """
    sums = np.zeros(places * SUMS * 128, np.float32)
    return cuda.to_device(sums), cuda.to_device(np.zeros(places, np.int32))
