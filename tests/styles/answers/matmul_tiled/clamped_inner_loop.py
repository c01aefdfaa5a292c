import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    """No padding: the inner loop ends where the last tile ends."""
    sA = cuda.shared.array((TILE, TILE), np.float32)
    sB = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    for start in range(0, K, TILE):
        width = min(TILE, K - start)
        if row < M and tx < width:
            sA[ty, tx] = A[row, start + tx]
        if col < N and ty < width:
            sB[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        if row < M and col < N:
            for k in range(width):
                acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
