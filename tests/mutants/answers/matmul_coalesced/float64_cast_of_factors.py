import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        acc = np.float32(0)
        for k in range(K):
            acc += np.float32(np.float64(A[row, k]) * np.float64(B[k, col]))  # <- float64-arithmetic
        C[row, col] = acc
