import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def fetch(array, i, j):
    inside = i < array.shape[0] and j < array.shape[1]
    return array[i, j] if inside else float32(0)


@cuda.jit
def matmul_tiled(A, B, C):
    """The next tile is already on its way while this one is multiplied."""
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    K = A.shape[1]
    acc = np.float32(0)
    a, b = fetch(A, row, tx), fetch(B, ty, col)
    for start in range(TILE, K + TILE, TILE):
        sA[ty, tx] = a
        sB[ty, tx] = b
        cuda.syncthreads()
        a, b = fetch(A, row, start + tx), fetch(B, start + ty, col)
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
