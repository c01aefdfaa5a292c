"""Rung 5: a thread computes a square of 8 x 8 outputs, so reuse grows in both directions.

Why: with TM x TN outputs a thread loads TM + TN numbers for TM * TN multiply-adds. A column of 8
gives 9 loads for 8; a square of 8 x 8 gives 16 for 64, one to four. What it gained: after
merging, 3/8 shared loads for a multiply-add become 1/16, and seven instructions of eight multiply.

What it costs: 64 sums live in registers, so an SM holds fewer threads. They don't wait for one
another: a thread has 64 independent multiply-adds to offer.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import unroll, unrolled
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 128, 8
TM, TN = 8, 8
THREADS = 256
ACROSS = 16  # BN / TN threads side by side
A_ROWS, B_ROWS = 32, 2  # rows that THREADS threads load at once: THREADS / BK and THREADS / BN
STEPS = 4  # BM / A_ROWS, and BK / B_ROWS


@cuda.jit
@unrolled
def register_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    K = A.shape[1]
    top = np.uint32(own_row if own_row < C.shape[0] - BM else C.shape[0] - BM)
    left = np.uint32(own_col if own_col < C.shape[1] - BN else C.shape[1] - BN)

    y, x = tid // ACROSS * TM, tid % ACROSS * TN  # what this thread computes: from (y, x) on
    a_y, a_x = tid // BK, tid % BK  # what it loads: every STEPS-th row, always the same column
    b_y, b_x = tid // BN, tid % BN
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    start = 0
    while start + BK <= K:
        for s in range(STEPS):
            sA[a_y + s * A_ROWS, a_x] = A[top + a_y + s * A_ROWS, start + a_x]
        for s in range(STEPS):
            sB[b_y + s * B_ROWS, b_x] = B[start + b_y + s * B_ROWS, left + b_x]
        cuda.syncthreads()  # the tiles are complete
        for k in unroll(BK):
            for i in range(TM):
                a[i] = sA[y + i, k]
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

    for i in range(TM):
        for j in range(TN):
            if top + y + i >= own_row and left + x + j >= own_col:
                C[top + y + i, left + x + j] = sums[i, j]


RUNG = RungKernel("register_2d", register_2d, (BM, BN, BK), (THREADS,), room=True)
