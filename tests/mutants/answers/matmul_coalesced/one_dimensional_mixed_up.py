import numpy as np
from numba import cuda

BLOCK = (256, 1)


@cuda.jit
def matmul_coalesced(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x  # <- wrong-index
    col = cuda.blockIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
