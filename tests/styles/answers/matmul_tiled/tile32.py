# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 32
BLOCK = 8  # left over from an earlier try


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    zero = float32(0)
    total = zero
    for step in range((A.shape[1] + TILE - 1) // TILE):
        k = step * TILE
        sA[ty, tx] = A[row, k + tx] if row < A.shape[0] and k + tx < A.shape[1] else zero
        sB[ty, tx] = B[k + ty, col] if k + ty < B.shape[0] and col < B.shape[1] else zero
        cuda.syncthreads()
        for i in range(TILE):
            total += sA[ty, i] * sB[i, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
