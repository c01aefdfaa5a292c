import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    """Two buffers in turn, so that one barrier a tile is enough."""
    sA = cuda.shared.array((2, TILE, TILE), float32)
    sB = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    for t in range((K + TILE - 1) // TILE):
        now = t % 2
        k0 = t * TILE
        sA[now, ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
        sB[now, ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[now, ty, k] * sB[now, k, tx]
    if row < M and col < N:
        C[row, col] = acc
