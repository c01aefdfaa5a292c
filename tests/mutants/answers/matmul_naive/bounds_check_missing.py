import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    acc = np.float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]  # <- out-of-bounds-read
    C[row, col] = acc
