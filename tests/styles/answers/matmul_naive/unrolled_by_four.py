import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    if not (row < M and col < N):
        return
    acc = np.float32(0)
    last = K - K % 4
    for k in range(0, last, 4):
        acc += A[row, k] * B[k, col]
        acc += A[row, k + 1] * B[k + 1, col]
        acc += A[row, k + 2] * B[k + 2, col]
        acc += A[row, k + 3] * B[k + 3, col]
    for k in range(last, K):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc
