import numpy as np
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    t = cuda.threadIdx.x + cuda.threadIdx.y * 16
    row = cuda.blockIdx.y * 16 + t // 32  # <- wrong-index
    col = cuda.blockIdx.x * 16 + t % 32  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
