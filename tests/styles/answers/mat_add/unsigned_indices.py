import numpy as np
from numba import cuda

BLOCK = (32, 8)


@cuda.jit(fastmath=True)
def mat_add(A, B, C):
    column = np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    row = np.uint32(cuda.blockIdx.y * 8 + cuda.threadIdx.y)
    if row < np.uint32(C.shape[0]) and column < np.uint32(C.shape[1]):
        C[row, column] = A[row, column] + B[row, column]
