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
    _, N = B.shape
    acc = np.float32(0)
    for k0 in range(0, K, TILE):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if row < M and k0 + tx < K:
            sA[ty, tx] = A[row, k0 + tx]
            if col < N:  # <- wrong-bounds-check
                sB[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
