# EXERCISE matmul_naive
import numpy as np
from numba import cuda

MAX_K = 64


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = np.float32(0)
        for k in range(min(A.shape[1], MAX_K)):  # <- wrong-loop-bound
            total += A[row, k] * B[k, col]
        C[row, col] = total
