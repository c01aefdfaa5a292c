import numpy as np
from numba import cuda

BLOCK = (32, 8)


@cuda.jit
def matmul_coalesced(A, B, C):
    x0, y0 = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    for row in range(y0, C.shape[0], dy):
        for col in range(x0, C.shape[1], dx):
            acc = np.float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
