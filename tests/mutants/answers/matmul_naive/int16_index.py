import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        acc = np.float32(0)
        k = np.int16(0)  # <- index-overflow
        while k < K:
            acc += A[row, k] * B[k, col]
            k = np.int16(k + 1)  # <- index-overflow
        C[row, col] = acc
