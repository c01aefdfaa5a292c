import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    r = row if row < M else M - 1
    c = col if col < N else N - 1
    acc = np.float32(0)
    for k in range(K):
        acc += A[r, k] * B[k, c]
    if row < M and col < N:
        C[row, col] = acc
