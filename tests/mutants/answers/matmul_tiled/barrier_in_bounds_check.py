import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    for t in range((K + TILE - 1) // TILE):
        if row < M and t * TILE + tx < K:
            sA[ty, tx] = A[row, t * TILE + tx]
        else:
            sA[ty, tx] = 0
        if t * TILE + ty < K and col < N:
            sB[ty, tx] = B[t * TILE + ty, col]
        else:
            sB[ty, tx] = 0
        if row < M and col < N:  # <- barrier-divergence
            cuda.syncthreads()  # <- barrier-divergence
            for k in range(TILE):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()  # <- barrier-divergence
    if row < M and col < N:
        C[row, col] = acc
