import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    first = cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0
    if first and row < M and col < N:  # <- incomplete-output
        acc = np.float32(0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc  # <- incomplete-output
