import numpy as np
from numba import cuda, float32

TILE = 16
PADDED = TILE + 1


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, PADDED), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    for start in range(0, K, TILE):
        if row < M and start + tx < K:
            sA[tx, ty] = A[row, start + tx]
        else:
            sA[tx, ty] = 0
        if start + ty < K and col < N:
            sB[ty, tx] = B[start + ty, col]
        else:
            sB[ty, tx] = 0
        cuda.syncthreads()
        k = 0
        while k < TILE:
            acc += sA[k, ty] * sB[k, tx]
            k += 1
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
