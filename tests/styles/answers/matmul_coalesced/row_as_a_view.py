import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        left = A[row]
        right = B[:, col]
        acc = np.float32(0)
        for k in range(left.size):
            acc += left[k] * right[k]
        C[row, col] = acc
