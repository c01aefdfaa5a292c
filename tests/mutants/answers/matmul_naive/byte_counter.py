# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = np.float32(0)
        k = np.int8(0)
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k = np.int8(k + 1)  # <- index-overflow
        C[row, col] = total
