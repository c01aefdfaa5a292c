import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    As = cuda.shared.array((2, TILE, TILE), float32)
    Bs = cuda.shared.array((2, TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    s = float32(0)
    for t in range((K + TILE - 1) // TILE):
        now = 0
        p = t * TILE
        As[now, y, x] = A[i, p + x] if i < M and p + x < K else 0  # <- race-write-after-read
        Bs[now, y, x] = B[p + y, j] if p + y < K and j < N else 0  # <- race-write-after-read
        cuda.syncthreads()
        for k in range(TILE):
            s += As[now, y, k] * Bs[now, k, x]  # <- race-write-after-read
    if i < M and j < N:
        C[i, j] = s
