import numpy as np
from numba import cuda

BLOCK = (16, 4)
ROWS = 4


@cuda.jit
def matmul_naive(A, B, C):
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    top = cuda.blockIdx.y * 16 + cuda.threadIdx.y * ROWS
    acc = np.float32(0)  # <- accumulator-error
    for i in range(ROWS):
        row = top + i
        if row < C.shape[0] and col < C.shape[1]:
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]  # <- accumulator-error
            C[row, col] = acc
