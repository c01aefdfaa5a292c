# EXERCISE matmul_naive
import numpy as np
from numba import cuda

MOST = 96  # <- out-of-bounds-write


@cuda.jit
def matmul_naive(A, B, C):
    mine = cuda.local.array(MOST, np.float32)  # <- out-of-bounds-write
    c, r = cuda.grid(2)
    depth = A.shape[1]
    if r < C.shape[0] and c < C.shape[1]:
        for k in range(depth):
            mine[k] = A[r, k]  # <- out-of-bounds-write
        s = np.float32(0)
        for k in range(depth):
            s += mine[k] * B[k, c]
        C[r, c] = s
