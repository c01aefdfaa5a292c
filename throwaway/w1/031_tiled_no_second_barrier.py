# exercise: matmul_tiled
# marked: wrong; cause: No barrier stands between the products of one step and the loads of the next, so a fast thread overwrites a tile that others still read; code: race-write-after-read; lines: [23, 24, 27, 28]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    left_tile = cuda.shared.array((TILE, TILE), float32)
    right_tile = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    at = 0
    while at < A.shape[1]:
        a = float32(0)
        b = float32(0)
        if row < A.shape[0] and at + tx < A.shape[1]:
            a = A[row, at + tx]
        if at + ty < B.shape[0] and col < B.shape[1]:
            b = B[at + ty, col]
        left_tile[ty, tx] = a
        right_tile[ty, tx] = b
        cuda.syncthreads()
        for k in range(TILE):
            acc += left_tile[ty, k] * right_tile[k, tx]
        at += TILE
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
