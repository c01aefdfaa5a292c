import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        C[row, col] = 0
        for k in range(K):
            C[row, col] += A[row, k] * B[k, col]  # <- excess-global-traffic (warning)
