# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    n = A.shape[0]
    if i < C.shape[0] and j < C.shape[1]:
        acc = np.float32(0.0)
        for k in range(n):  # <- wrong-loop-bound
            acc = acc + A[i, k] * B[k, j]
        C[i, j] = acc
