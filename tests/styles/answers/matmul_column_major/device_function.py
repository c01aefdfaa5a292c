import numpy as np
from numba import cuda

ROWS, COLUMNS = 32, 8


@cuda.jit(device=True)
def dot(A, B, i, j):
    s = np.float32(0)
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    return s


@cuda.jit
def matmul_column_major(A, B, C):
    i = cuda.blockIdx.y * ROWS + cuda.threadIdx.x % ROWS
    j = cuda.blockIdx.x * COLUMNS + cuda.threadIdx.x // ROWS
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = dot(A, B, i, j)
