import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)

    def inside(array, i, j):
        return i < array.shape[0] and j < array.shape[1]

    acc = np.float32(0)
    for start in range(0, A.shape[1], TILE):
        if inside(A, row, start + tx):
            sA[ty, tx] = A[row, start + tx]
        else:
            sA[ty, tx] = 0
        if inside(B, start + ty, col):
            sB[ty, tx] = B[start + ty, col]
        else:
            sB[ty, tx] = 0
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if inside(C, row, col):
        C[row, col] = acc
