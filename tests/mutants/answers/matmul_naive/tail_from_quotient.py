# EXERCISE matmul_naive
import numpy as np
from numba import cuda

STEP = 4


@cuda.jit
def matmul_naive(A, B, C):
    x, y = cuda.grid(2)
    K = A.shape[1]
    whole = K // STEP  # <- wrong-loop-bound, integer-arithmetic
    if y < C.shape[0] and x < C.shape[1]:
        total = np.float32(0)
        for k in range(0, whole * STEP, STEP):
            total += A[y, k] * B[k, x]
            total += A[y, k + 1] * B[k + 1, x]
            total += A[y, k + 2] * B[k + 2, x]
            total += A[y, k + 3] * B[k + 3, x]
        for k in range(whole, K):  # <- wrong-loop-bound
            total += A[y, k] * B[k, x]
        C[y, x] = total
