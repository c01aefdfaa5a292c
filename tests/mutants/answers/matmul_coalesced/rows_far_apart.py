import numpy as np
from numba import cuda

BLOCK = (8, 32)


@cuda.jit
def matmul_coalesced(A, B, C):
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.x * 4 + cuda.threadIdx.y % 4
    col = cuda.blockIdx.x * 8 + cuda.threadIdx.y // 4
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]  # <- uncoalesced-load
        C[row, col] = acc
