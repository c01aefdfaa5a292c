"""Rung 12: a copy engine fetches, one warp asks it to, the others do nothing but multiply.

Why: in rung 11 each thread starts twelve copies for every tile, and everyone stops at a barrier
before the next product. And a block that has stored its results is gone: the next one begins with
empty stages, and the tensor cores wait. Seven changes, the first six with their gains in
`course_lib.measurements.ablation`:

1. **TMA and mbarriers.** One thread of a ninth warp, the **producer**, asks for whole tiles. Two
   mbarriers for each stage say when it is full and when it is empty again. The two warpgroups that
   multiply, the **consumers**, no longer wait for each other, only for tiles.
2. **Persistent blocks.** As many blocks as SMs; each takes one tile of C after the other. While the
   consumers store one, the producer fills the stages for the next.
3. **Results by TMA.** Sums go to shared memory, from where the copy engine writes whole rows of 128
   bytes, while the next product runs.
4. **A bfloat16 result**, where that is wanted: half the bytes. `stmatrix` puts the pieces together.
5. **Launches that overlap.** The next product's blocks come as soon as one of ours leaves its SM,
   and make ready; they wait with their first copy until this product is over
   (`course_lib.intrinsics.launches`).
6. **Clusters.** Two blocks side by side need the same tile of A. Each fetches half of it for both
   (multicast), so a third fewer bytes are asked of L2. One below the other they share B.
7. **A full last turn.** Where it would have few tiles, all of them are narrower, or of another
   height and computed as their transpose (**turned**), or several blocks share each of the last
   ones (`course_lib.kernels.split_tiles`), so that nobody waits for long. Which way suits a
   product, `course_lib.kernels.tile_plan` says; the host writes it down as a list of pieces for
   each block (`course_lib.kernels.pieces`).

What it costs: nothing stops anyone any more, so every hand-over must be counted right. A stage that
is released too early is a race that no barrier hides, one that is never released a kernel that
never ends. Edges need no tests: TMA fills in zeros outside A and B and leaves out what lies outside
C. But TMA wants rows that begin at multiples of 16 bytes: N and K are multiples of 8.

How tiles lie in shared memory is in `tma_room.py`, how the host launches it, on a Hopper GPU or on
the emulator, in `tma_launch.py`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    bf16_bits,
    cluster_rank,
    cluster_sync,
    fence_async,
    fence_mbarrier_init,
    grid_dependency_sync,
    group_sync,
    mbarrier_arrive_at,
    mbarrier_arrive_with_bytes,
    mbarrier_init,
    mbarrier_wait,
    pack_bf16,
    shared_address,
    stmatrix_x4,
    stmatrix_x4_trans,
    store_shared,
    store_shared2,
    tma_load,
    tma_load_multicast,
    tma_prefetch,
    tma_store,
    tma_store_wait,
    trigger_next_launch,
    uniform,
    unroll,
    unrolled,
    warpgroup_product,
    wgmma_a,
    wgmma_b,
)
from course_lib.intrinsics.warpgroups import fewer_registers, more_registers
from course_lib.kernels.pieces import WHOLE, piece
from course_lib.kernels.split_tiles import make_adding
from course_lib.kernels.tma_launch import TmaRung
from course_lib.kernels.tma_room import (
    BK,
    BM,
    BN,
    BOX,
    EMPTY,
    FEW,
    FULL,
    MANY,
    RESULTS,
    ROW,
    SHARED,
    Room,
    room_for,
    threads_of,
)


@cuda.jit(device=True)
def make_barriers(base, room, tid, cluster):
    """One thread makes two barriers a stage; returns this block's rank in its cluster."""
    if tid == 0:
        for stage in range(room.stages):
            mbarrier_init(base + FULL + 8 * stage, 1)  # the producer, and bytes
            mbarrier_init(base + EMPTY + 8 * stage, room.consumers * cluster)  # of all blocks
        fence_mbarrier_init()
    cuda.syncthreads()
    rank = np.uint32(0)
    if cluster > 1:
        rank = cluster_rank()
        cluster_sync()  # now the other blocks may use them
    return rank


@cuda.jit(device=True)
def next_stage(room, stage, lap):
    """The stage after this one; `lap` is 0 or 1, in turns, each time round the ring."""
    after = np.uint32(stage + 1)
    if after == room.stages:
        return np.uint32(0), np.uint32(lap ^ 1)
    return after, np.uint32(lap)


@cuda.jit(device=True)
def load(to, tensor_map, x, y, rows, full, rank, sharing):
    """So many rows of 128 bytes; of several blocks that share them, each fetches a part for all."""
    if sharing > 1:
        part = rows // sharing
        to, start = to + rank * part * ROW, (x, y + rank * part)
        tma_load_multicast(to, tensor_map, start, full, (1 << sharing) - 1)
    else:
        tma_load(to, tensor_map, (x, y), full)


@cuda.jit(device=True)
def own_tile(room, top, left, rank, share_a, share_b):
    """Where this block's tile begins: those that share A lie side by side, B below each other."""
    return top + rank % share_b * room.rows, left + rank % share_a * (room.panels * 64)


@cuda.jit(device=True)
def fetch(base, room, map_a, map_b, work, at, now, rank, share_a, share_b):
    """The producer, one thread: fill stage after stage, as soon as it is empty."""
    stage, lap = np.uint32(0), np.uint32(0)
    top, left, k, stop, _ = now
    while k < stop:
        top, left = own_tile(room, top, left, rank, share_a, share_b)
        while k < stop:
            here, full = base + stage * room.stage_bytes, base + FULL + 8 * stage
            mbarrier_wait(base + EMPTY + 8 * stage, lap ^ 1)
            mbarrier_arrive_with_bytes(full, room.stage_bytes)
            for step in range(room.steps):
                a, first = here + step * room.step_bytes, (k * room.steps + step) * BK
                load(a, map_a, first, top, room.rows, full, rank, share_a)
                for p in range(room.panels):
                    panel = a + room.rows * ROW + p * BOX
                    load(panel, map_b, left + p * 64, first, BK, full, rank, share_b)
            stage, lap = next_stage(room, stage, lap)
            k = np.uint32(k + 1)
        at = np.uint32(at + 1)
        top, left, k, stop, _ = piece(work, at)


@cuda.jit(device=True)
def release(base, stage, thread, cluster):
    """A warpgroup is done with a stage: its thread i tells block i of the cluster."""
    mbarrier_arrive_at(base + EMPTY + 8 * stage, thread, 1 if thread < cluster else 0)


@cuda.jit(device=True)
def box_for_results(staging, number, room, group, thread):
    """The box whose turn it is, when what was in it has been read; the other one need not be."""
    if thread == 0:
        tma_store_wait(1)  # RESULTS - 1
    group_sync(group + 1, 128)
    return staging + number % RESULTS * room.box


def boxes_of_results(room: Room, high: int) -> tuple[tuple[int, int], ...]:
    """For each box of a warpgroup's results: its panel, and the first of so many rows in it.

    If results are not turned, "rows" are columns. The last box of a panel begins further up if it
    would reach below it: some rows are stored twice.
    """
    rows = range(0, room.width, high)
    return tuple((p, min(row, room.width - high)) for p in range(room.each) for row in rows)


def make_bf16_store(room: Room) -> Any:
    """What writes a warpgroup's results as bfloat16 by TMA, box after box; turned, transposed."""
    width, high = room.width, room.box // ROW
    boxes = boxes_of_results(room, high)
    count, blocks = len(boxes), high // 16

    @cuda.jit(device=True)
    @unrolled
    def store_bf16(sums, map_c, top, left, staging, group, thread):
        warp, lane = thread // 32, thread % 32
        if thread == 0:
            tma_store_wait(0)  # of the tile before; the first box need not be the one that is next
        for number in unroll(count):
            box = box_for_results(staging, number, room, group, thread)
            panel, first = boxes[number]
            for q in unroll(blocks):
                j = (panel * width + first) // 2 + 8 * q
                words = (
                    pack_bf16(sums[j], sums[j + 1]),
                    pack_bf16(sums[j + 2], sums[j + 3]),
                    pack_bf16(sums[j + 4], sums[j + 5]),
                    pack_bf16(sums[j + 6], sums[j + 7]),
                )
                if room.turned:
                    row = 16 * q + lane // 16 * 8 + lane % 8
                    piece = (2 * warp + lane // 8 % 2) ^ (lane % 8)
                    stmatrix_x4_trans(box + row * ROW + piece * 16, words)
                else:
                    row, piece = warp * 16 + lane % 16, (2 * q + lane // 16) ^ (lane % 8)
                    stmatrix_x4(box + row * ROW + piece * 16, words)
            fence_async()
            group_sync(group + 1, 128)
            if thread == 0:
                if room.turned:
                    tma_store(map_c, (left + panel * 64, top + first), box)
                else:
                    tma_store(map_c, (left + first, top), box)

    return store_bf16


def make_float32_store(room: Room) -> Any:
    """The same as float32, in smaller boxes: half as many numbers fill one."""
    width, high = room.width, room.box // ROW // 2
    boxes = boxes_of_results(room, high)
    count, blocks = len(boxes), high // 4

    @cuda.jit(device=True)
    @unrolled
    def store_rows(sums, map_c, top, left, staging, group, thread):
        """32 columns at a time, two neighbours in one store."""
        warp, lane = thread // 32, thread % 32
        row = warp * 16 + lane // 4
        if thread == 0:
            tma_store_wait(0)
        for number in unroll(count):
            box = box_for_results(staging, number, room, group, thread)
            for q in unroll(4):
                j = 16 * number + 4 * q
                piece = (2 * q + lane % 4 // 2) ^ (lane // 4)
                at = box + row * ROW + piece * 16 + lane % 2 * 8
                store_shared2(at, sums[j], sums[j + 1])
                store_shared2(at + 8 * ROW, sums[j + 2], sums[j + 3])
            fence_async()
            group_sync(group + 1, 128)
            if thread == 0:
                tma_store(map_c, (left + 32 * number, top), box)

    @cuda.jit(device=True)
    @unrolled
    def store_columns(sums, map_c, top, left, staging, group, thread):
        """Where they are turned: a box is two of 32 columns, side by side."""
        warp, lane = thread // 32, thread % 32
        if thread == 0:
            tma_store_wait(0)
        for number in unroll(count):
            box = box_for_results(staging, number, room, group, thread)
            panel, first = boxes[number]
            for q in unroll(blocks):  # two numbers in each trip, one below the other
                row = q // 2 * 8 + lane % 4 * 2
                column = warp % 2 * 16 + q % 2 * 8 + lane // 4
                at = box + warp // 2 * (room.box // 2) + row * ROW + column % 4 * 4
                j = (panel * width + first) // 2 + 2 * q
                store_shared(at + (column // 4 ^ (row % 8)) * 16, sums[j])
                store_shared(at + ROW + (column // 4 ^ ((row + 1) % 8)) * 16, sums[j + 1])
            fence_async()
            group_sync(group + 1, 128)
            if thread == 0:
                x = left + panel * 64
                tma_store(map_c, (x, top + first), box)
                tma_store(map_c, (x + 32, top + first), box + room.box // 2)

    return store_columns if room.turned else store_rows


def make_kernel(
    make_store: Any, cluster: int, columns: int = BN, rows: int = BM, beside: bool = False
) -> Any:
    """The kernel for clusters of so many blocks (1, 2 or 4); `make_store(room)` is how it stores.

    A tile has 128 rows and 64, 128, 192 or 256 columns; or any other number of rows, a multiple of
    8 from 64, and 128 to 256 columns: then it is computed as its transpose. Blocks of a cluster lie
    below each other and share columns of B; or `beside` each other, and share rows of A.
    """
    room = room_for(columns, rows)
    product = warpgroup_product(room.width, room.turned, room.each)
    start_product, wait_for_product = product.start, product.wait
    threads, count_of_sums = threads_of(room), room.each * room.width // 2
    store, store_partial = make_store(room), make_float32_store(room)
    share_a, share_b = (cluster, 1) if beside else (1, cluster)

    @cuda.jit(device=True)
    def sum_up(sums, base, a, b, count, stage, lap, thread):
        """Multiply what is there, `count` stages; returns the stage after them, and its lap."""
        done, before = np.uint32(0), np.uint32(0)
        while done < count:
            mbarrier_wait(base + FULL + 8 * stage, lap)
            further = stage * (room.stage_bytes // 16)
            start_product(sums, a + further, b + further, done)  # 0: forget the last piece
            for _ in range(1, room.steps):
                further += room.step_bytes // 16
                start_product(sums, a + further, b + further, 1)
            if done > 0:  # the product before is done
                release(base, before, thread, cluster)
            before = np.uint32(stage)
            stage, lap = next_stage(room, stage, lap)
            done = np.uint32(done + 1)
        wait_for_product(sums)
        release(base, before, thread, cluster)
        return stage, lap

    @cuda.jit(device=True)
    def multiply(base, result, partial, work, at, now, rank, group, thread):
        """A consumer, one of 128 threads of a warpgroup: multiply what is there, and store it."""
        sums = cuda.local.array(count_of_sums, float32)
        if room.turned:
            a, b = wgmma_a(base), wgmma_b(base + rows * ROW + group * (room.each * BOX))
        else:
            a, b = wgmma_a(base + group * BOX), wgmma_b(base + rows * ROW)
        staging = base + room.stages * room.stage_bytes + group * (RESULTS * room.box)
        stage, lap = np.uint32(0), np.uint32(0)
        top, left, first, stop, number = now
        while first < stop:
            stage, lap = sum_up(sums, base, a, b, np.uint32(stop - first), stage, lap, thread)
            top, left = own_tile(room, top, left, rank, share_a, share_b)
            if room.turned:
                own = left + group * (room.each * 64)
                store(sums, result, top, own, staging, group, thread)
            elif number == WHOLE:
                store(sums, result, top + group * 64, left, staging, group, thread)
            else:
                row = (number * cluster + rank) * rows + group * 64
                store_partial(sums, partial, row, 0, staging, group, thread)
            at = np.uint32(at + 1)
            top, left, first, stop, number = piece(work, at)
        if thread == 0:
            tma_store_wait(0)  # shared memory must last until it has been read

    @cuda.jit(launch_bounds=(threads, 1))
    def tma(map_a, map_b, result, partial, work, most):
        shared = cuda.shared.array(0, np.uint8, alignment=1024)
        base = shared_address(shared)
        tid = np.uint32(cuda.threadIdx.x)
        warp = uniform(tid // 32)
        first = np.uint32(cuda.blockIdx.x // cluster * most)  # of this worker's pieces
        now = piece(work, first)
        trigger_next_launch()
        if tid == 0:
            tma_prefetch(map_a)
            tma_prefetch(map_b)
        rank = make_barriers(base, room, tid, cluster)
        grid_dependency_sync()  # the launch before may still be at work on A, B or C
        if warp >= 4 * room.consumers:
            if room.each > 1:
                fewer_registers(FEW)
            if tid == 128 * room.consumers:
                fetch(base, room, map_a, map_b, work, first, now, rank, share_a, share_b)
        else:
            if room.each > 1:
                more_registers(MANY)
            group, thread = np.uint32(warp // 4), np.uint32(tid % 128)
            multiply(base, result, partial, work, first, now, rank, group, thread)
        if cluster > 1:
            cluster_sync()  # nobody leaves while others may still write to its shared memory

    return tma


kernel_for = cache(make_kernel)  # compiled when it is first launched


@cuda.jit(device=True)
def unchanged(value):
    """A float32 result is the sum itself."""
    return value


def _rung(name: str, result: str, make_store: Any, rounded: Any) -> TmaRung:
    return TmaRung(
        name,
        kernel_for(make_store, 1, BN, BM),
        make_kernel=partial(kernel_for, make_store),
        adding=make_adding(rounded),
        tile=(BM, BN, BK),
        block=(threads_of(room_for(BN, BM)),),
        min_cc=(9, 0),
        dtype="uint16",
        result=result,
        multiples={"N": 8, "K": 8},
        dynamic_shared=SHARED,
    )


RUNG = _rung("tma", "float32", make_float32_store, unchanged)
ROUNDED = _rung("tma_bf16", "uint16", make_bf16_store, bf16_bits)
