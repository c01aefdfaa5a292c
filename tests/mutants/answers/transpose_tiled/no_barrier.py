# EXERCISE transpose_tiled
from numba import cuda, float32

TILE = 32
WIDTH = 33


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, WIDTH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    M, N = A.shape
    row, col = by * TILE + ty, bx * TILE + tx
    if row < M and col < N:
        tile[ty, tx] = A[row, col]  # <- race-read-after-write
    row, col = bx * TILE + ty, by * TILE + tx
    if row < N and col < M:
        B[row, col] = tile[tx, ty]  # <- race-read-after-write
