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
    for start in range(0, K, TILE):
        sA[ty, tx] = A[min(row, M - 1), min(start + tx, K - 1)]  # <- missing-mask
        sB[ty, tx] = B[min(start + ty, K - 1), min(col, N - 1)]  # <- missing-mask
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
