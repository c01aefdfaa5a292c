# EXERCISE matmul_tiled
import numpy as np
from numba import cuda

TILE = 16
CELLS = 256


@cuda.jit
def matmul_tiled(A, B, C):
    tile_a = cuda.shared.array(CELLS, np.float32)
    tile_b = cuda.shared.array(CELLS, np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    me = ty * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    height = C.shape[0]
    width = C.shape[1]
    depth = B.shape[0]
    tiles = (depth - 1) // TILE + 1
    value = np.float32(0)
    for t in range(tiles):
        ka = t * TILE + tx
        kb = t * TILE + ty
        tile_a[me] = 0
        tile_b[me] = 0
        if row < height and ka < depth:
            tile_a[me] = A[row, ka]
        if kb < depth and col < width:
            tile_b[me] = B[kb, col]
        if cuda.syncthreads_or(1 if tile_a[me] != 0 else 0):
            for k in range(TILE):
                value += tile_a[ty * TILE + k] * tile_b[k * TILE + tx]
        cuda.syncthreads()
    if row < height and col < width:
        C[row, col] = value
