import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_coalesced(A, B, C):
    lane = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.x * TILE + lane // TILE  # <- wrong-index
    col = cuda.blockIdx.y * TILE + lane % TILE  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
