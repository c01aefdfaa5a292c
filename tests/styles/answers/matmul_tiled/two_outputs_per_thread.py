import numpy as np
from numba import cuda, float32

TILE = 16
BLOCK = (16, 8)


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE + tx
    M, K = A.shape
    N = B.shape[1]
    upper = lower = np.float32(0)
    for start in range(0, K, TILE):
        for y in range(ty, TILE, 8):
            sA[y, tx] = A[top + y, start + tx] if top + y < M and start + tx < K else 0
            sB[y, tx] = B[start + y, col] if start + y < K and col < N else 0
        cuda.syncthreads()
        for k in range(TILE):
            upper += sA[ty, k] * sB[k, tx]
            lower += sA[ty + 8, k] * sB[k, tx]
        cuda.syncthreads()
    if col < N:
        if top + ty < M:
            C[top + ty, col] = upper
        if top + ty + 8 < M:
            C[top + ty + 8, col] = lower
