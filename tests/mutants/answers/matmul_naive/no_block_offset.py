import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.threadIdx.x, cuda.threadIdx.y  # <- wrong-index
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        acc = np.float32(0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
