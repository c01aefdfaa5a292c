"""Rung 10 for float16, the oldest form: runs from Turing on (compute capability 7.5, Colab's T4).

Why: an FFMA does 32 multiply-adds for a warp, `mma` m16n8k8 does 1,024. The price is the format:
float16 has 10 bits of fraction, as tf32, and ends at 65,504; sums stay float32.

How: eight warps of 64 x 32 results. `ldmatrix` fetches fragments for two steps of mma at once, A as
it lies and B transposed. Turing has no cp.async, so the next tile waits in registers while this one
is worked on: loaded before the products, stored after them, between two barriers. A row of a tile
is padded by 16 bytes, so that the eight rows that ldmatrix reads at once lie in different banks.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    ldmatrix_x4,
    ldmatrix_x4_trans,
    load_words,
    mma_m16n8k8_f16,
    store2,
    store_words,
)
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 128, 32
THREADS = 256  # eight warps, two down and four across
A_WIDE, B_WIDE = 40, 136  # numbers from one row of a tile to the next, padding included


@cuda.jit
def tensor_core_f16(A, B, C):
    sA = cuda.shared.array((BM, A_WIDE), np.float16, alignment=16)
    sB = cuda.shared.array((BK, B_WIDE), np.float16, alignment=16)
    sums = cuda.local.array((4, 4, 4), float32)  # 4 x 4 results of mma, 4 numbers of each
    a = cuda.local.array((4, 4), np.uint32)
    tid = np.uint32(cuda.threadIdx.x)
    top, left = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    M, N, K = A.shape[0], np.uint64(B.shape[1]), np.uint32(A.shape[1])
    lane, warp = tid % 32, tid // 32
    down, across = warp // 4 * 64, warp % 4 * 32

    # What this thread carries: two pieces of 8 numbers of each tile. Outside the matrix, the last
    # ones inside: they make results that nobody stores.
    above = np.uint64(min(top + tid // 4, M - 1))
    below = np.uint64(min(top + tid // 4 + 64, M - 1))
    from_above = above * np.uint64(K) + tid % 4 * 8
    from_below = below * np.uint64(K) + tid % 4 * 8
    from_b = tid // 16 * N + np.uint64(min(left + tid % 16 * 8, N - 8))
    to_a = tid // 4 * A_WIDE + tid % 4 * 8
    to_b = tid // 16 * B_WIDE + tid % 16 * 8
    # Where it points ldmatrix: at row lane % 16, in the left or the right half of 16 columns.
    a_at = (down + lane % 16) * A_WIDE + lane // 16 * 8
    b_at = lane % 16 * B_WIDE + across + lane // 16 * 8

    for i in range(4):
        for j in range(4):
            for c in range(4):
                sums[i, j, c] = float32(0)
    a_above, a_below = load_words(A, from_above), load_words(A, from_below)
    b_above, b_below = load_words(B, from_b), load_words(B, from_b + 16 * N)
    start = np.uint32(0)
    while start < K:
        cuda.syncthreads()  # nobody reads the tiles before these any more
        store_words(sA, to_a, a_above)
        store_words(sA, to_a + 64 * A_WIDE, a_below)
        store_words(sB, to_b, b_above)
        store_words(sB, to_b + 16 * B_WIDE, b_below)
        cuda.syncthreads()  # these are complete
        start = np.uint32(start + BK)
        if start < K:
            from_above += BK
            from_below += BK
            from_b += BK * N
            a_above, a_below = load_words(A, from_above), load_words(A, from_below)
            b_above, b_below = load_words(B, from_b), load_words(B, from_b + 16 * N)
        for k in range(2):
            for i in range(4):
                a[i, 0], a[i, 1], a[i, 2], a[i, 3] = ldmatrix_x4(
                    sA, a_at + i * 16 * A_WIDE + k * 16
                )
            for j in range(0, 4, 2):
                b0, b1, b2, b3 = ldmatrix_x4_trans(sB, b_at + k * 16 * B_WIDE + j * 8)
                for i in range(4):
                    acc = (sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3])
                    acc = mma_m16n8k8_f16(acc, (a[i, 0], a[i, 1]), b0)
                    acc = mma_m16n8k8_f16(acc, (a[i, 2], a[i, 3]), b1)
                    sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = acc
                    n = j + 1
                    acc = (sums[i, n, 0], sums[i, n, 1], sums[i, n, 2], sums[i, n, 3])
                    acc = mma_m16n8k8_f16(acc, (a[i, 0], a[i, 1]), b2)
                    acc = mma_m16n8k8_f16(acc, (a[i, 2], a[i, 3]), b3)
                    sums[i, n, 0], sums[i, n, 1], sums[i, n, 2], sums[i, n, 3] = acc

    x = left + across + lane % 4 * 2
    for i in range(4):
        for h in range(2):  # of 16 rows a lane holds two
            y = top + down + i * 16 + h * 8 + lane // 4
            if y < M:
                at = np.uint64(y) * N + x
                for j in range(4):
                    if x + j * 8 < N:
                        store2(C, at + j * 8, (sums[i, j, 2 * h], sums[i, j, 2 * h + 1]))


RUNG = RungKernel(
    "tensor_core_f16",
    tensor_core_f16,
    tile=(BM, BN, BK),
    block=(THREADS,),
    min_cc=(7, 5),
    dtype="float16",
    multiples={"N": 8, "K": BK},
)
