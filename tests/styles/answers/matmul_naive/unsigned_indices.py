import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col = np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    row = np.uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    inner = np.uint32(A.shape[1])
    if row < np.uint32(A.shape[0]) and col < np.uint32(B.shape[1]):
        acc = np.float32(0.0)
        k = np.uint32(0)
        while k < inner:
            acc += A[row, k] * B[k, col]
            k = np.uint32(k + 1)
        C[row, col] = acc
