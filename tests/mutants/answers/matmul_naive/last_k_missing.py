# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, N = C.shape
    K = B.shape[0]
    if row >= M or col >= N:
        return
    total = np.float32(0)
    k = 0
    while k < K - 1:  # <- wrong-loop-bound
        total += A[row, k] * B[k, col]
        k += 1
    C[row, col] = total
