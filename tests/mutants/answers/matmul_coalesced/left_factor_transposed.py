import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_coalesced(A, B, C):
    lane = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.y * TILE + lane // TILE
    col = cuda.blockIdx.x * TILE + lane % TILE
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[k, row] * B[k, col]  # <- wrong-index
        C[row, col] = acc
