"""Rung 6: one instruction loads 16 bytes, so fewer of them are spent on moving data.

Why: the eight multiply-adds out of nine instructions that rung 5 reaches are capped by the rest:
8 global loads and 8 shared stores of 4 bytes a step. A thread that takes four neighbours needs a
quarter of them. What it gained: 8 loads of 4 bytes become 2 of 16.

A is stored transposed, so that a thread's 8 elements for one k are neighbours, as those of B are.
Four columns of padding keep 16-byte loads aligned and spread the transposed stores over the banks.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4, store4, unroll, unrolled
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 128, 8
TM, TN = 8, 8
THREADS = 256
ACROSS = 16  # BN / TN threads side by side
WIDE_A, WIDE_B = 2, 32  # 16-byte pieces in a row of a tile: BK / 4 and BN / 4
LDA = 132  # a row of A's transposed tile: BM and the padding


@cuda.jit
@unrolled
def vectorised(A, B, C):
    sA = cuda.shared.array((BK, LDA), float32, alignment=16)
    sB = cuda.shared.array((BK, BN), float32, alignment=16)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    N, K = C.shape[1], A.shape[1]
    top = np.uint32(min(own_row, C.shape[0] - BM))
    left = np.uint32(min(own_col, N - BN))

    y, x = tid // ACROSS * TM, tid % ACROSS * TN  # what this thread computes: from (y, x) on
    a_y, a_x = tid // WIDE_A, tid % WIDE_A * 4  # what it loads: four neighbours of each matrix
    b_y, b_x = tid // WIDE_B, tid % WIDE_B * 4
    from_a = (top + a_y) * K + a_x
    from_b = b_y * N + left + b_x
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    start = 0
    while start + BK <= K:
        four = load4(A, from_a + start)
        store4(sB, b_y * BN + b_x, load4(B, from_b + start * N))
        for i in unroll(4):
            sA[a_x + i, a_y] = four[i]
        cuda.syncthreads()  # the tiles are complete
        for k in unroll(BK):
            for i in range(TM):
                a[i] = sA[k, y + i]
            for j in range(TN):
                b[j] = sB[k, x + j]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += a[i] * b[j]
        cuda.syncthreads()  # nobody needs them any more
        start += BK
    while start < K:  # what is left of K
        for i in range(TM):
            a[i] = A[top + y + i, start]
        for j in range(TN):
            b[j] = B[start, left + x + j]
        for i in range(TM):
            for j in range(TN):
                sums[i, j] += a[i] * b[j]
        start += 1

    for i in unroll(TM):
        for j in unroll(2):
            row, col = top + y + i, left + x + 4 * j
            if row >= own_row and col >= own_col:
                four = (sums[i, 4 * j], sums[i, 4 * j + 1], sums[i, 4 * j + 2], sums[i, 4 * j + 3])
                store4(C, row * N + col, four)


RUNG = RungKernel(
    "vectorised", vectorised, (BM, BN, BK), (THREADS,), room=True, multiples={"N": 4, "K": 4}
)
