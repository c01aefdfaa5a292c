import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    if i < M and j < N:
        s = np.float32(0)
        for k in range(K):
            a = A[i, k]
            b = B[k, j]
            s -= a * b  # <- wrong-formula, accumulator-error
        C[i, j] = s
