import numpy as np
from numba import cuda

TILE = 32
BLOCK = (TILE, TILE)


@cuda.jit
def matmul_coalesced(A, B, C):
    lane = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    row = cuda.blockIdx.y * TILE + lane // TILE
    col = cuda.blockIdx.x * TILE + lane % TILE
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
