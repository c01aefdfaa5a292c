import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if 0 <= row < C.shape[0] and 0 <= col < C.shape[1]:
        even = odd = np.float32(0)
        K = A.shape[1]
        for k in range(0, K, 2):
            even += A[row, k] * B[k, col]
            if k + 1 < K:
                odd += A[row, k + 1] * B[k + 1, col]
        C[row, col] = even + odd
