import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        acc = np.float32(0)
        for k in range(K):  # <- wrong-loop-bound
            if k == K - 1:  # <- wrong-loop-bound
                break  # <- wrong-loop-bound
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
