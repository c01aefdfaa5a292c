import numpy as np
from numba import cuda

TILE = 8
ZERO = np.float32(0)


@cuda.jit(device=True)
def load(array, row, col):
    if row < array.shape[0] and col < array.shape[1]:
        return array[row, col]
    return ZERO


@cuda.jit
def matmul_tiled(A, B, C):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = ZERO
    for start in range(0, A.shape[1], TILE):
        tile_a[ty, tx] = load(A, row, start + tx)
        tile_b[ty, tx] = load(B, start + ty, col)
        cuda.syncthreads()
        for k in range(TILE):
            acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
