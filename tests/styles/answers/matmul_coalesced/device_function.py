import numpy as np
from numba import cuda

ZERO = np.float32(0)


@cuda.jit(device=True)
def dot(A, B, row, col):
    """One element of the product."""
    total = ZERO
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, col]
    return total


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = dot(A, B, row, col)
