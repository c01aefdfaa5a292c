"""Rung 11: Hopper's own instruction; four warps multiply 64 x 64 by 64 x 256 from shared memory.

Why: `mma` takes its operands from registers, so every warp spends issue slots on ldmatrix and
registers on fragments. And it keeps a tensor core of Hopper busy for 6 clocks where 4 would do (as
Nsight Compute counts on an H200): two thirds of the peak are all that it can reach. `wgmma` reads
tiles where they lie, and at the full rate.

Two warpgroups share a block of 128 x 256 results. The products are asynchronous as the copies are:
while one runs, the warps wait for the next tile, so that the tensor cores find work at once. On an
H200 that alone gains a quarter. There the tensor cores are busy most of the time, and the GPU
lowers its clock to stay below its limit of power (docs/bench.md): that is what binds in the end.

What it costs: the layout is not ours to choose (see `course_lib.intrinsics.wgmma`: each 16-byte
piece of a row changes its place), copies must be made visible to another part of the machine
(`fence_async`), and the four stages of 48 KB fill an SM's shared memory: one block, 8 warps.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    fence_async,
    store2,
    wgmma_m64n256k64_bf16,
    wgmma_wait,
)
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 256, 64
THREADS = 256  # two warpgroups, one below the other
A_TILE = 8192  # BM * BK
B_PANEL = 4096  # BK rows of 64 columns
STAGE = 24576  # A_TILE + 4 * B_PANEL
AHEAD = 2  # tiles on their way; of the other two stages one is in use, one may still be
LAST = 73728  # 3 * STAGE: where the last of the four stages starts


@cuda.jit(device=True)
def start_copy(tiles, slot, A, from_a, to_a, B, from_b, to_b, N):
    """Start to copy a tile of A and one of B: of A four times 16 bytes for a thread, of B eight."""
    for s in range(4):
        cp_async16(tiles, slot + to_a + s * 32 * BK, A, from_a[s])
    for s in range(8):
        cp_async16(tiles, slot + to_b + s * 8 * 64, B, from_b + s * 8 * N)


@cuda.jit
def wgmma(A, B, C):
    tiles = cuda.shared.array(0, np.uint16, alignment=1024)
    sums = cuda.local.array(128, float32)
    from_a = cuda.local.array(4, np.uint64)
    tid = np.uint32(cuda.threadIdx.x)
    top, left = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    M, N, K = A.shape[0], np.uint64(B.shape[1]), np.uint32(A.shape[1])
    lane, warp = tid % 32, tid // 32
    group = warp // 4

    # What this thread copies: pieces of 8 numbers. Outside the matrix, the last ones inside.
    for s in range(4):
        row = np.uint64(min(top + tid // 8 + s * 32, M - 1))
        from_a[s] = row * np.uint64(K) + tid % 8 * 8
    from_b = tid // 32 * N + np.uint64(min(left + lane * 8, N - 8))
    # Where to: in row r of a tile, piece p lies at place p ^ (r % 8).
    to_a = tid // 8 * BK + (tid % 8 ^ tid // 8 % 8) * 8
    to_b = A_TILE + lane // 8 * B_PANEL + warp * 64 + (lane % 8 ^ warp) * 8

    for i in range(128):
        sums[i] = float32(0)
    for t in range(AHEAD):
        if t * BK < K:
            start_copy(tiles, t * STAGE, A, from_a, to_a, B, from_b, to_b, N)
        cp_async_commit()
        for s in range(4):
            from_a[s] += BK
        from_b += BK * N

    rest = K  # steps of k still to do
    here, slot = np.uint32(0), np.uint32(AHEAD * STAGE)
    while rest > 0:
        cp_async_wait(1)
        fence_async()
        cuda.syncthreads()  # this tile is complete, and everyone is done with the last but one
        wgmma_m64n256k64_bf16(sums, tiles, here + group * 64 * BK, here + A_TILE)
        if rest > AHEAD * BK:
            start_copy(tiles, slot, A, from_a, to_a, B, from_b, to_b, N)
        cp_async_commit()
        for s in range(4):
            from_a[s] += BK
        from_b += BK * N
        rest = np.uint32(rest - BK)
        here = np.uint32(here + STAGE if here < LAST else 0)
        slot = np.uint32(slot + STAGE if slot < LAST else 0)
    wgmma_wait(sums)

    x = left + lane % 4 * 2
    for h in range(2):  # of 16 rows a lane holds two
        y = top + warp * 16 + h * 8 + lane // 4
        if y < M:
            at = np.uint64(y) * N + x
            for j in range(32):
                if x + j * 8 < N:
                    store2(C, at + j * 8, (sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]))


RUNG = RungKernel(
    "wgmma",
    wgmma,
    tile=(BM, BN, BK),
    block=(THREADS,),
    min_cc=(9, 0),
    dtype="uint16",
    multiples={"N": 8, "K": BK},
    dynamic_shared=196_608,  # four stages of 2-byte numbers
)
