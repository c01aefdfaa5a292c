"""Rung 10 for float32 matrices: the tensor cores read them as tf32 and multiply.

Why: the caller keeps float32. tf32 is float32 with 10 of its 23 bits of fraction; `mma` m16n8k8
reads 32-bit words and ignores the other 13 bits, so numbers are truncated. Sums stay float32. A
multiply-add takes twice the bytes of bfloat16, and twice the time.

How: as `tensor_core_bf16`, in steps of 8 instead of 16. Fragments of A come through ldmatrix, which
moves 16 bytes a row and does not mind that they are four numbers and not eight. It can't transpose
32-bit numbers, so the fragments of B are plain loads: lane (g, t) reads column g of row t, and the
padding of 8 numbers spreads the four rows over all 32 banks.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    float_bits,
    ldmatrix_x4,
    mma_m16n8k8_tf32,
    store2,
)
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 256, 16
THREADS = 256  # eight warps, two down and four across
A_WIDE, B_WIDE = 20, 264  # numbers from one row of a tile to the next, padding included
A_TILE = 2560  # BM * A_WIDE
STAGE = 6784  # A_TILE + BK * B_WIDE: a tile of A, then one of B
STAGES = 3
LAST = 13568  # (STAGES - 1) * STAGE: where the last stage starts


@cuda.jit(device=True)
def start_copy(tiles, slot, A, from_a, a_step, to_a, B, from_b, b_step, to_b):
    """Start to copy a tile of A and one of B: 2 + 4 times 16 bytes for a thread."""
    for s in range(2):
        cp_async16(tiles, slot + to_a + s * 64 * A_WIDE, A, from_a + s * a_step)
    for s in range(4):
        cp_async16(tiles, slot + to_b + s * 4 * B_WIDE, B, from_b + s * b_step)


@cuda.jit(device=True)
def load_fragments(a, b, part, tiles, a_at, b_at):
    """Fetch what this warp needs for 8 steps of k: 64 rows of A, 64 columns of B."""
    for i in range(4):
        a[part, i, 0], a[part, i, 1], a[part, i, 2], a[part, i, 3] = ldmatrix_x4(
            tiles, a_at + i * 16 * A_WIDE
        )
    for j in range(8):
        b[part, j, 0] = float_bits(tiles[np.uint64(b_at + j * 8)])
        b[part, j, 1] = float_bits(tiles[np.uint64(b_at + j * 8 + 4 * B_WIDE)])


@cuda.jit(device=True)
def multiply(sums, a, b, part):
    """8 steps of k: 4 x 8 products of 16 x 8 by 8 x 8."""
    for i in range(4):
        four = (a[part, i, 0], a[part, i, 1], a[part, i, 2], a[part, i, 3])
        for j in range(8):
            acc = (sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3])
            acc = mma_m16n8k8_tf32(acc, four, (b[part, j, 0], b[part, j, 1]))
            sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = acc


@cuda.jit
def tensor_core_tf32(A, B, C):
    tiles = cuda.shared.array(0, float32, alignment=16)
    sums = cuda.local.array((4, 8, 4), float32)
    a = cuda.local.array((2, 4, 4), np.uint32)  # two parts: one in use, one on its way
    b = cuda.local.array((2, 8, 2), np.uint32)
    tid = np.uint32(cuda.threadIdx.x)
    top, left = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    M, N, K = A.shape[0], np.uint64(B.shape[1]), np.uint32(A.shape[1])
    lane, warp = tid % 32, tid // 32
    down, across = warp // 4 * 64, warp % 4 * 64

    # What this thread copies: pieces of 4 numbers. Outside the matrix, the last ones inside: they
    # make results that nobody stores.
    row = np.uint64(min(top + tid // 4, M - 1))
    from_a = row * K + tid % 4 * 4
    a_step = (np.uint64(min(top + tid // 4 + 64, M - 1)) - row) * K  # to 64 rows below
    b_step = 4 * N
    from_b = tid // 64 * N + np.uint64(min(left + tid % 64 * 4, N - 4))
    to_a = tid // 4 * A_WIDE + tid % 4 * 4
    to_b = A_TILE + tid // 64 * B_WIDE + tid % 64 * 4
    # Where it points ldmatrix: at row lane % 16, in the left or the right half of 8 columns.
    a_at = (down + lane % 16) * A_WIDE + lane // 16 * 4
    # Its place in B's fragments: row lane % 4, column lane // 4.
    b_at = np.uint32(A_TILE) + lane % 4 * B_WIDE + across + lane // 4

    for i in range(4):
        for j in range(8):
            for c in range(4):
                sums[i, j, c] = float32(0)
    for s in range(STAGES):
        if s * BK < K:
            start_copy(tiles, s * STAGE, A, from_a, a_step, to_a, B, from_b, b_step, to_b)
        cp_async_commit()
        from_a += BK
        from_b += BK * N
    cp_async_wait(2)  # the first tile is here; two may still be on their way
    cuda.syncthreads()
    load_fragments(a, b, 0, tiles, a_at, b_at)

    rest = K  # steps of k still to do
    here = np.uint32(0)
    while rest > 0:
        load_fragments(a, b, 1, tiles, here + a_at + 8, here + b_at + 8 * B_WIDE)
        multiply(sums, a, b, 0)
        cp_async_wait(1)
        cuda.syncthreads()  # the next tile is complete, and nobody reads this one any more
        used = here
        here = np.uint32(here + STAGE if here < LAST else 0)
        if rest > BK:  # before the copies, because the tensor cores wait for this
            load_fragments(a, b, 0, tiles, here + a_at, here + b_at)
        if rest > STAGES * BK:
            start_copy(tiles, used, A, from_a, a_step, to_a, B, from_b, b_step, to_b)
        cp_async_commit()
        multiply(sums, a, b, 1)
        rest = np.uint32(rest - BK)
        from_a += BK
        from_b += BK * N

    x = left + across + lane % 4 * 2
    for i in range(4):
        for h in range(2):  # of 16 rows a lane holds two
            y = top + down + i * 16 + h * 8 + lane // 4
            if y < M:
                at = np.uint64(y) * N + x
                for j in range(8):
                    if x + j * 8 < N:
                        store2(C, at + j * 8, (sums[i, j, 2 * h], sums[i, j, 2 * h + 1]))


RUNG = RungKernel(
    "tensor_core_tf32",
    tensor_core_tf32,
    tile=(BM, BN, BK),
    block=(THREADS,),
    min_cc=(8, 0),
    multiples={"N": 4, "K": BK},
    dynamic_shared=81_408,  # three stages of 4-byte numbers
)
