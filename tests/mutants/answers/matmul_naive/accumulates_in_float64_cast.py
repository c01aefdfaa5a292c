import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        s = np.float64(0)  # <- float64-arithmetic
        for k in range(B.shape[0]):
            s += A[i, k] * B[k, j]
        C[i, j] = np.float32(s)
