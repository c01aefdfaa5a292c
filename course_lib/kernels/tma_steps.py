"""From rung 11 to rung 12 in seven steps, each a product that runs.

Rung 12 makes all its changes at once. Here they come one after the other, with the same kernel:
a step is a rung with one choice more made as rung 12 makes it. `benchmarks/tma_ablation.py`
measures what each gains.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numba import cuda

from course_lib.intrinsics import store2, unroll, unrolled
from course_lib.kernels.rung_12_tma import ROUNDED, RUNG, kernel_for
from course_lib.kernels.tile_plan import PAIR, SINGLE
from course_lib.kernels.tma_launch import TmaRung
from course_lib.kernels.tma_room import Room


def make_direct_store(room: Room) -> Any:
    """As rung 11 stores: each lane its own two neighbours, straight to global memory."""
    pieces = room.width // 8

    @cuda.jit(device=True)
    @unrolled
    def store_directly(sums, C, top, left, staging, group, thread):
        M, N = C.shape[0], np.uint64(C.shape[1])
        x = left + thread % 4 * 2
        for h in unroll(2):
            y = top + thread // 32 * 16 + h * 8 + thread % 32 // 4
            if y < M:
                at = np.uint64(y) * N + x
                for j in unroll(pieces):
                    if x + j * 8 < N:
                        store2(C, at + j * 8, (sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]))

    return store_directly


_direct = partial(kernel_for, make_direct_store)
_first = replace(
    RUNG,
    name="tma",
    kernel=_direct(1, SINGLE.columns, SINGLE.rows),
    make_kernel=_direct,
    plan=SINGLE,
    stays=False,
    by_tma=False,
    overlap=False,
)

# What it is, by the step's name: TMA, mbarriers and a producer; then one more of its changes each.
STEPS: dict[str, TmaRung] = {
    "tma": _first,
    "persistent": replace(_first, stays=True),
    "tma_store": replace(RUNG, plan=SINGLE, overlap=False),
    "bf16": replace(ROUNDED, plan=SINGLE, overlap=False),
    "overlap": replace(ROUNDED, plan=SINGLE),
    "clusters": replace(ROUNDED, plan=PAIR),
    "last_turn": ROUNDED,
}
