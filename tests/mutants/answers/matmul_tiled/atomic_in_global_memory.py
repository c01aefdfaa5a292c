import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            cuda.atomic.add(C, (row, col), A[row, k] * B[k, col])  # <- uninitialised-read
