import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        s = np.float32(0)
        k = 0
        while k < A.shape[1]:
            s += A[i, k] * B[0, j]  # <- wrong-index
            k += 1
        C[i, j] = s
