import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def fetch(tile, array, i, j, y, x):
    if i < array.shape[0] and j < array.shape[1]:  # <- barrier-divergence
        tile[y, x] = array[i, j]
        cuda.syncthreads()  # <- barrier-divergence
    else:
        tile[y, x] = 0


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = np.float32(0)
    for k0 in range(0, A.shape[1], TILE):
        fetch(sA, A, row, k0 + tx, ty, tx)
        fetch(sB, B, k0 + ty, col, ty, tx)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
