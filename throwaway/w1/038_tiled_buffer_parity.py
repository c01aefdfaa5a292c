# exercise: matmul_tiled
# marked: wrong; cause: The products read the other one of the two buffers, not the one that has just been filled; code: uninitialised-read|wrong-index|race-write-after-read; lines: [24]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    """two buffers, so one barrier per step is enough"""
    bufA = cuda.shared.array((2, TILE, TILE), float32)
    bufB = cuda.shared.array((2, TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    steps = (K + TILE - 1) // TILE
    total = float32(0)
    for s in range(steps):
        now = s % 2
        other = 1 - now
        p = s * TILE
        bufA[now, ty, tx] = A[row, p + tx] if row < A.shape[0] and p + tx < K else float32(0)
        bufB[now, ty, tx] = B[p + ty, col] if p + ty < K and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += bufA[other, ty, k] * bufB[other, k, tx]
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
