import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        k = 0
        while True:  # <- timeout
            if k >= A.shape[1]:
                break
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
