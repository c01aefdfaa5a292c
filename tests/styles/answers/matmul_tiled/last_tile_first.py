import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    t = (K + TILE - 1) // TILE
    while t > 0:
        t -= 1
        base = t * TILE
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if row < M:
            if base + tx < K:
                sA[ty, tx] = A[row, base + tx]
        if col < N:
            if base + ty < K:
                sB[ty, tx] = B[base + ty, col]
        cuda.syncthreads()
        for k in range(TILE - 1, -1, -1):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
