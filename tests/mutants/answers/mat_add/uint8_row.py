# EXERCISE mat_add
import numpy as np
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    row = np.uint8(cuda.blockIdx.y * 16 + cuda.threadIdx.y)  # <- index-overflow
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
