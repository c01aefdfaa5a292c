"""Rung 4: a thread computes a column of 8 outputs, so an element of B in a register serves 8 sums.

Why: shared memory, too, can be read only so often. In each step along k, a thread loads 1 element
of B and 8 of A for 8 multiply-adds: 9 loads instead of 16. What it gained: the compiler merges the
loads of A for four steps along k, so 1.25 shared loads for each multiply-add become 3/8.

The edges, here and in the rungs above: where the last tile would stick out of C, it slides back
until it fits, and stores only what is its own. So no load needs a test. (C must have room for one
tile.) What is left of K after the last whole step is added at the end, one by one.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import unroll, unrolled
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 64, 64, 8
TM = 8
THREADS = 512  # BM / TM * BN: one for each column of outputs; also one for each element of a tile


@cuda.jit
@unrolled
def register_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    K = np.uint32(A.shape[1])
    top = np.uint32(own_row if own_row < C.shape[0] - BM else C.shape[0] - BM)
    left = np.uint32(own_col if own_col < C.shape[1] - BN else C.shape[1] - BN)

    y, x = tid // BN * TM, tid % BN  # what this thread computes: rows from y on, column x
    a_y, a_x = tid // BK, tid % BK  # what it loads: one element of each tile
    b_y, b_col = tid // BN, np.uint64(left + x)
    for i in range(TM):
        sums[i] = float32(0)
    start = 0
    while start + BK <= K:
        sA[a_y, a_x] = A[top + a_y, start + a_x]
        sB[b_y, x] = B[start + b_y, b_col]
        cuda.syncthreads()  # the tiles are complete
        for k in unroll(BK):
            b = sB[k, x]
            for i in range(TM):
                sums[i] += sA[y + i, k] * b
        cuda.syncthreads()  # nobody needs them any more
        start += BK
    while start < K:  # what is left of K
        b = B[start, b_col]
        for i in range(TM):
            sums[i] += A[top + y + i, start] * b
        start += 1

    for i in range(TM):
        if top + y + i >= own_row and left + x >= own_col:
            C[top + y + i, left + x] = sums[i]


RUNG = RungKernel("register_1d", register_1d, (BM, BN, BK), (THREADS,), room=True)
