# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = np.float32(0)
        for k in range(A.shape[1]):
            a = A[row, k]
            if not a:  # <- wrong-loop-bound, accumulator-error, wrong-formula
                break  # <- wrong-loop-bound, accumulator-error, wrong-formula
            total += a * B[k, col]
        C[row, col] = total
