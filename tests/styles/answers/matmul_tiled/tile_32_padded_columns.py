import numpy as np
from numba import cuda, float32

TILE = 32
WIDTH = TILE + 1


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, WIDTH), float32)
    sB = cuda.shared.array((TILE, WIDTH), float32)
    tx = np.uint32(cuda.threadIdx.x)
    ty = np.uint32(cuda.threadIdx.y)
    row = np.uint32(cuda.blockIdx.y * TILE + cuda.threadIdx.y)
    col = np.uint32(cuda.blockIdx.x * TILE + cuda.threadIdx.x)
    M, K = A.shape
    K2, N = B.shape
    acc = float32(0)
    t = np.uint32(0)
    while t < K:
        sA[ty, tx] = A[row, t + tx] if row < M and t + tx < K else float32(0)
        sB[ty, tx] = B[t + ty, col] if t + ty < K2 and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        t = np.uint32(t + TILE)
    if row < M and col < N:
        C[row, col] = acc
