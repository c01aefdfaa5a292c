"""Rung 12: a copy engine fetches, one warp asks it to, eight warps do nothing but multiply.

Why: in rung 11 each thread starts twelve copies for every tile, and everyone stops at a barrier
before the next product. And a block that has stored its results is gone: the next one begins with
empty stages, and the tensor cores wait. Six changes, the first five with their gains in
`course_lib.measurements.ablation`:

1. **TMA and mbarriers.** One thread of a ninth warp, the **producer**, asks for whole tiles. Two
   mbarriers for each stage say when it is full and when it is empty again. The two warpgroups that
   multiply, the **consumers**, no longer wait for each other, only for tiles.
2. **Persistent blocks.** As many blocks as SMs; each takes one tile of C after the other. While the
   consumers store one, the producer fills the stages for the next.
3. **Results by TMA.** Sums go to shared memory, from where the copy engine writes whole rows of 128
   bytes, while the next product runs.
4. **A bfloat16 result**, where that is wanted: half the bytes. `stmatrix` puts the pieces together.
5. **Clusters.** Two blocks, one below the other, need the same tile of B. Each fetches half of it
   for both (multicast), so a third fewer bytes are asked of L2.
6. **A full last turn.** Where its tiles are few, they are narrower, or cut into strips, or several
   blocks share each of them (`course_lib.kernels.split_tiles`), so that nobody waits for long.
   Which way suits a product, `course_lib.kernels.tile_plan` says; the host writes it down as a list
   of pieces for each block (`course_lib.kernels.pieces`).

What it costs: nothing stops anyone any more, so every hand-over must be counted right. A stage that
is released too early is a race that no barrier hides, one that is never released a kernel that
never ends. Edges need no tests: TMA fills in zeros outside A and B and leaves out what lies outside
C. But TMA wants rows that begin at multiples of 16 bytes: N and K are multiples of 8.

It needs a Hopper GPU and numba-cuda 0.30. The emulator has no copy engine and no wgmma.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    bf16_bits,
    cluster_rank,
    cluster_sync,
    fence_async,
    fence_mbarrier_init,
    group_sync,
    mbarrier_arrive_at,
    mbarrier_arrive_with_bytes,
    mbarrier_init,
    mbarrier_wait,
    pack_bf16,
    shared_address,
    stmatrix_x4,
    store_shared2,
    tma_load,
    tma_load_multicast,
    tma_store,
    tma_store_wait,
    uniform,
    unroll,
    unrolled,
    warpgroup_product,
    wgmma_a,
    wgmma_b,
)
from course_lib.kernels import hopper_launch
from course_lib.kernels.pieces import WHOLE, piece, work_on_gpu
from course_lib.kernels.rung import RungKernel
from course_lib.kernels.split_tiles import ADDING, make_adding, workspace
from course_lib.kernels.tile_plan import STRIP, WIDTHS, TilePlan, plan_for

BM, BN, BK = 128, 256, 64  # or fewer columns: `tile_plan`
GROUPS = 2  # warpgroups that multiply, one below the other
CONSUMERS = 256  # their threads
PRODUCER = 8  # the warp after them
THREADS = 288
STAGES = 4

# Shared memory, in bytes. A box is 64 rows of 128 bytes.
BOX = 8192
A_BYTES, STAGE = 16384, 49152  # 2 boxes of A, and 4 of B behind them
SECOND_A = 32768  # in the stage of a strip: behind 2 boxes of B, one for each step
STAGING = 196608  # STAGES * STAGE; then two boxes of results for each warpgroup
FULL, EMPTY = 229376, 229408  # STAGING + 4 * BOX; then 8 bytes a barrier
SHARED = 229440


@cuda.jit(device=True)
def make_barriers(base, tid, cluster):
    """One thread makes two barriers a stage; returns this block's rank in its cluster."""
    if tid == 0:
        for stage in range(STAGES):
            mbarrier_init(base + FULL + 8 * stage, 1)  # the producer, and bytes
            mbarrier_init(base + EMPTY + 8 * stage, 2 * cluster)  # each warpgroup of each block
        fence_mbarrier_init()
    cuda.syncthreads()
    rank = np.uint32(0)
    if cluster > 1:
        rank = cluster_rank()
        cluster_sync()  # now the other blocks may use them
    return rank


@cuda.jit(device=True)
def next_stage(stage, lap):
    """The stage after this one; `lap` is 0 or 1, in turns, each time round the ring."""
    after = np.uint32(stage + 1)
    if after == STAGES:
        return np.uint32(0), np.uint32(lap ^ 1)
    return after, np.uint32(lap)


@cuda.jit(device=True)
def load_panel(to, map_b, column, k, full, rank, cluster):
    """64 columns of B, 64 steps of k: each block of a cluster fetches its share of the rows."""
    share = BK // cluster
    to, start = to + rank * share * 128, (column, k + rank * share)
    if cluster > 1:
        tma_load_multicast(to, map_b, start, full, (1 << cluster) - 1)
    else:
        tma_load(to, map_b, start, full)


@cuda.jit(device=True)
def fetch(base, map_a, map_b, work, at, rank, cluster):
    """The producer, one thread: fill stage after stage, as soon as it is empty."""
    stage, lap = np.uint32(0), np.uint32(0)
    top, left, columns, k, stop, _ = piece(work, at)
    while k < stop:
        row = top + rank * BM
        while k < stop:
            here, full = base + stage * STAGE, base + FULL + 8 * stage
            mbarrier_wait(base + EMPTY + 8 * stage, lap ^ 1)
            if columns == STRIP:  # a stage has room for two steps
                mbarrier_arrive_with_bytes(full, STAGE)
                for half in range(2):
                    tma_load(here + half * SECOND_A, map_a, ((2 * k + half) * BK, row), full)
                    panel = here + A_BYTES + half * BOX
                    load_panel(panel, map_b, left, (2 * k + half) * BK, full, rank, cluster)
            else:
                mbarrier_arrive_with_bytes(full, A_BYTES + columns // 64 * BOX)
                tma_load(here, map_a, (k * BK, row), full)
                for p in range(columns // 64):
                    panel = here + A_BYTES + p * BOX
                    load_panel(panel, map_b, left + p * 64, k * BK, full, rank, cluster)
            stage, lap = next_stage(stage, lap)
            k = np.uint32(k + 1)
        at = np.uint32(at + 1)
        top, left, columns, k, stop, _ = piece(work, at)


@cuda.jit(device=True)
def release(base, stage, thread, cluster):
    """A warpgroup is done with a stage: its thread i tells block i of the cluster."""
    mbarrier_arrive_at(base + EMPTY + 8 * stage, thread, 1 if thread < cluster else 0)


@cuda.jit(device=True)
@unrolled
def store_bf16(sums, map_c, top, left, staging, group, thread, columns):
    """Write a warpgroup's 64 rows of a tile as bfloat16, 64 columns at a time, by TMA."""
    warp, lane = thread // 32, thread % 32
    row = warp * 16 + lane % 16
    if thread == 0:
        tma_store_wait(0)  # three boxes a tile take turns in two, so the last was this first one
    for p in unroll(4):
        if p * 64 < columns:
            box = staging + p % 2 * BOX
            if thread == 0:
                tma_store_wait(1)  # what was in this box before has been read
            group_sync(group + 1, 128)
            for q in unroll(4):
                j = 32 * p + 8 * q
                piece = (2 * q + lane // 16) ^ (lane % 8)
                words = (
                    pack_bf16(sums[j], sums[j + 1]),
                    pack_bf16(sums[j + 2], sums[j + 3]),
                    pack_bf16(sums[j + 4], sums[j + 5]),
                    pack_bf16(sums[j + 6], sums[j + 7]),
                )
                stmatrix_x4(box + row * 128 + piece * 16, words)
            fence_async()
            group_sync(group + 1, 128)
            if thread == 0:
                tma_store(map_c, (left + 64 * p, top), box)


@cuda.jit(device=True)
@unrolled
def store_float32(sums, map_c, top, left, staging, group, thread, columns):
    """The same as float32: 32 columns at a time, two neighbours in one store."""
    warp, lane = thread // 32, thread % 32
    row = warp * 16 + lane // 4
    for p in unroll(8):
        if p * 32 < columns:
            box = staging + p % 2 * BOX
            if thread == 0:
                tma_store_wait(1)
            group_sync(group + 1, 128)
            for q in unroll(4):
                j = 16 * p + 4 * q
                piece = (2 * q + lane % 4 // 2) ^ (lane // 4)
                at = box + row * 128 + piece * 16 + lane % 2 * 8
                store_shared2(at, sums[j], sums[j + 1])
                store_shared2(at + 8 * 128, sums[j + 2], sums[j + 3])
            fence_async()
            group_sync(group + 1, 128)
            if thread == 0:
                tma_store(map_c, (left + 32 * p, top), box)


def make_summing(columns: int) -> Any:
    """A consumer's loop over the steps of a piece that is so many columns wide."""
    product = warpgroup_product(columns)
    start_product, wait_for_product = product.start, product.wait

    @cuda.jit(device=True)
    def sum_up(sums, base, a, b, count, stage, lap, thread, cluster):
        """Multiply what is there, `count` stages; returns the stage after them, and its lap."""
        done, before = np.uint32(0), np.uint32(0)
        while done < count:
            mbarrier_wait(base + FULL + 8 * stage, lap)
            further = stage * (STAGE // 16)
            start_product(sums, a + further, b + further, done)  # 0: forget the last piece
            if columns == STRIP:
                start_product(sums, a + further + SECOND_A // 16, b + further + BOX // 16, 1)
            if done > 0:  # the product before is done
                release(base, before, thread, cluster)
            before = np.uint32(stage)
            stage, lap = next_stage(stage, lap)
            done = np.uint32(done + 1)
        wait_for_product(sums)
        release(base, before, thread, cluster)
        return stage, lap

    return sum_up


def make_kernel(store: Any, cluster: int, columns: int = BN) -> Any:
    """The kernel with one way to store results, for clusters of so many blocks (1, 2 or 4).

    `columns` of a tile: 256, or fewer where these fill the last turn better; a multiple of 64.
    """
    sum_tile, sum_strip, count_of_sums = make_summing(columns), make_summing(STRIP), columns // 2

    @cuda.jit(device=True)
    def multiply(base, result, partial, work, at, rank, group, thread):
        """A consumer, one of 128 threads of a warpgroup: multiply what is there, and store it."""
        sums = cuda.local.array(count_of_sums, float32)
        a, b = wgmma_a(base + group * BOX), wgmma_b(base + A_BYTES)
        staging = base + STAGING + group * (2 * BOX)
        stage, lap = np.uint32(0), np.uint32(0)
        top, left, wide, first, stop, number = piece(work, at)
        while first < stop:
            count, row = np.uint32(stop - first), top + rank * BM + group * 64
            if wide == STRIP:
                stage, lap = sum_strip(sums, base, a, b, count, stage, lap, thread, cluster)
                store(sums, result, row, left, staging, group, thread, STRIP)
            else:
                stage, lap = sum_tile(sums, base, a, b, count, stage, lap, thread, cluster)
                if number == WHOLE:
                    store(sums, result, row, left, staging, group, thread, columns)
                else:
                    row = ((number * cluster + rank) * GROUPS + group) * 64
                    store_float32(sums, partial, row, 0, staging, group, thread, columns)
            at = np.uint32(at + 1)
            top, left, wide, first, stop, number = piece(work, at)
        if thread == 0:
            tma_store_wait(0)  # shared memory must last until it has been read

    @cuda.jit(launch_bounds=(THREADS, 1))
    def tma(map_a, map_b, result, partial, work, most):
        shared = cuda.shared.array(0, np.uint8, alignment=1024)
        base = shared_address(shared)
        tid = np.uint32(cuda.threadIdx.x)
        warp = uniform(tid // 32)
        rank = make_barriers(base, tid, cluster)
        first = np.uint32(cuda.blockIdx.x // cluster * most)  # of this worker's pieces
        if warp == PRODUCER:
            if tid % 32 == 0:
                fetch(base, map_a, map_b, work, first, rank, cluster)
        else:
            group, thread = np.uint32(warp // 4), np.uint32(tid % 128)
            multiply(base, result, partial, work, first, rank, group, thread)
        if cluster > 1:
            cluster_sync()  # nobody leaves while others may still write to its shared memory

    return tma


@dataclass(frozen=True)
class TmaRung(RungKernel):
    """Rung 12 for one type of result: launched with tensor maps in place of matrices.

    Attributes:
        kernels: the kernel for each cluster and number of columns; `kernel` is that for (1, 256).
        adding: the kernel that makes whole tiles out of split ones, for each number of columns.
    """

    kernels: Mapping[tuple[int, int], Any] = field(default_factory=dict)
    adding: Mapping[int, Any] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Four tensor maps, of 16 words each; the pieces, and how many a worker has at most."""
        return f"void({', '.join(['uint64[::1]'] * 4)}, uint32[:, :, ::1], uint32)"

    def grid_and_block(self, M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, ...]]:
        """A block for each tile; a GPU gets as many as it has SMs, and they take turns."""
        return (-(-M // BM) * -(-N // BN), 1), self.block

    def _emulated_arguments(self, A: Any, B: Any, C: Any) -> tuple[Any, ...]:
        # It is refused at its first line, which says why.
        return A, B, C, C, C, 0

    def _launch_on_gpu(self, A: Any, B: Any, C: Any, stream: Any) -> None:
        """NumPy's arrays are copied to the GPU, and the result back, as Numba does it."""
        a, b, c = (
            each if hasattr(each, "__cuda_array_interface__") else cuda.to_device(each)
            for each in (A, B, C)
        )
        self.start(a, b, c, stream=stream)
        if c is not C:
            c.copy_to_host(C)

    def start(self, A: Any, B: Any, C: Any, plan: TilePlan | None = None, stream: Any = 0) -> None:
        """Start C = A @ B, for arrays on the GPU, by this plan or the one that suits it."""
        (M, N), K = C.shape, A.shape[1]
        multiprocessors = hopper_launch.multiprocessors()
        plan = plan or plan_for(M, N, K, multiprocessors)
        cluster, columns = plan.cluster, plan.columns
        work = work_on_gpu(plan, (M, N, K), multiprocessors // cluster)
        result = hopper_launch.tensor_map(C, (64, 128 // C.dtype.itemsize))
        parts = cluster * GROUPS
        pieces = None if work.shared is None else workspace(work.workers * parts, stream)
        maps = (
            hopper_launch.tensor_map(A, (BM, BK)),
            hopper_launch.tensor_map(B, (BK // cluster, 64)),
            result,
            result if pieces is None else hopper_launch.tensor_map(pieces, (64, 32)),
        )
        arguments = (*maps, work.table, np.uint32(work.most))
        kernel = self.kernels[cluster, columns]
        hopper_launch.prepare(kernel, arguments, SHARED, cluster)
        kernel[cluster * work.workers, THREADS, stream, SHARED](*arguments)
        if pieces is not None:
            blocks = 32, len(work.shared) * parts
            self.adding[columns][blocks, ADDING, stream](pieces, C, work.shared, np.uint32(parts))


@cuda.jit(device=True)
def unchanged(value):
    """A float32 result is the sum itself."""
    return value


def _rung(name: str, result: str, store: Any, rounded: Any) -> TmaRung:
    ways = [(cluster, columns) for cluster in (1, 2) for columns in WIDTHS]
    kernels = {way: make_kernel(store, *way) for way in ways}
    return TmaRung(
        name,
        kernels[1, BN],
        kernels=kernels,
        adding={columns: make_adding(rounded, columns) for columns in WIDTHS},
        tile=(BM, BN, BK),
        block=(THREADS,),
        min_cc=(9, 0),
        dtype="uint16",
        result=result,
        multiples={"N": 8, "K": 8},
        dynamic_shared=SHARED,
    )


RUNG = _rung("tma", "float32", store_float32, unchanged)
ROUNDED = _rung("tma_bf16", "uint16", store_bf16, bf16_bits)
