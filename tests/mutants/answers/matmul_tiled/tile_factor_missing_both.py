import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        k_a = t + tx  # <- wrong-index
        k_b = t + ty  # <- wrong-index
        sA[ty, tx] = A[row, k_a] if row < A.shape[0] and k_a < A.shape[1] else float32(0)
        sB[ty, tx] = B[k_b, col] if k_b < A.shape[1] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
