# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    rows = min(C.shape[0], 64)  # <- wrong-bounds-check, incomplete-output
    if row < rows and col < C.shape[1]:  # <- wrong-bounds-check, incomplete-output
        total = np.float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
