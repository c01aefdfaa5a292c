"""Rung 1: one thread computes one output, and the threads of a warp run down a column of C.

Why: it is the definition of the product, and it is right. What it costs: in each step along k,
the 32 lanes of a warp read from 32 rows of A. They touch 32 sectors and use 4 of the 32 bytes of
each sector. Every multiply-add loads two numbers.

`naive` is what one writes first. `naive_while` says the same to the compiler in a way that it
understands: Numba's `range` over a size known at launch only hides from it that k just grows. The
loop shrinks from 36 instructions for a multiply-add to 8 (sm_90), with no access to memory changed.
"""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.rung import RungKernel

SIDE = 32


@cuda.jit
def naive(A, B, C):
    row, col = cuda.grid(2)  # x is the row
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def naive_while(A, B, C):
    row = np.uint32(cuda.blockIdx.x) * SIDE + np.uint32(cuda.threadIdx.x)
    col = np.uint32(cuda.blockIdx.y) * SIDE + np.uint32(cuda.threadIdx.y)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total


class _RowsAlongX(RungKernel):
    """The one rung whose grid runs along the rows in x."""

    def grid_and_block(self, M, N, K):
        (across, down), block = super().grid_and_block(M, N, K)
        return (down, across), block


RUNG = _RowsAlongX("naive", naive, tile=(SIDE, SIDE, 1), block=(SIDE, SIDE))
LEAN = _RowsAlongX("naive_while", naive_while, tile=(SIDE, SIDE, 1), block=(SIDE, SIDE))
