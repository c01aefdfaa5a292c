# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    for start in range(0, K, TILE):
        if row < M and start + tx < N:  # <- wrong-bounds-check
            sA[ty, tx] = A[row, start + tx]
        else:
            sA[ty, tx] = float32(0)
        if start + ty < K and col < N:
            sB[ty, tx] = B[start + ty, col]
        else:
            sB[ty, tx] = float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
