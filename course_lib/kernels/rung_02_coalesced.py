"""Rung 2: the same kernel with x and y exchanged; a warp now runs along a row of C.

Why: the lanes of a warp read neighbours in B, and all of them read the same element of A. What it
gained: in each step along k, a warp touches 4 + 1 sectors instead of 1 + 32.

Nothing else has changed: two loads for every multiply-add, and every one goes through L1.
`coalesced` is what one writes first. It shows a fraction of the gain: with 36 instructions for a
multiply-add the warps have no time to ask for memory. `coalesced_while` needs 6, and starts the
loads of 16 steps along k together, so it waits for memory once in 16 multiply-adds, not once in 4.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import unroll, unrolled
from course_lib.kernels.rung import RungKernel

SIDE = 32
STEPS = 16  # steps of k whose loads are asked for together


@cuda.jit
def coalesced(A, B, C):
    col, row = cuda.grid(2)  # x is the column
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
@unrolled
def coalesced_while(A, B, C):
    col = np.uint32(cuda.blockIdx.x) * SIDE + np.uint32(cuda.threadIdx.x)
    row = np.uint32(cuda.blockIdx.y) * SIDE + np.uint32(cuda.threadIdx.y)
    if row < C.shape[0] and col < C.shape[1]:
        K = A.shape[1]
        total = float32(0)
        k = 0
        while k + STEPS <= K:
            for s in unroll(STEPS):
                total += A[row, k + s] * B[k + s, col]
            k += STEPS
        while k < K:  # what is left of K
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total


RUNG = RungKernel("coalesced", coalesced, tile=(SIDE, SIDE, 1), block=(SIDE, SIDE))
LEAN = RungKernel("coalesced_while", coalesced_while, tile=(SIDE, SIDE, 1), block=(SIDE, SIDE))
