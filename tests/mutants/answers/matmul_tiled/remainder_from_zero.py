import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    """Full tiles need no test of k; the last, partial one is treated apart."""
    sA = cuda.shared.array((TILE, TILE), np.float32)
    sB = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    acc = np.float32(0)
    full = K // TILE
    for t in range(full):
        sA[ty, tx] = A[row, t * TILE + tx] if row < M else np.float32(0)
        sB[ty, tx] = B[t * TILE + ty, col] if col < N else np.float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    rest = K - full * TILE
    if rest:
        if row < M and tx < rest:
            sA[ty, tx] = A[row, tx]  # <- wrong-index
        if col < N and ty < rest:
            sB[ty, tx] = B[ty, col]  # <- wrong-index
        cuda.syncthreads()
        if row < M and col < N:
            for k in range(rest):
                acc += sA[ty, k] * sB[k, tx]
    if row < M and col < N:
        C[row, col] = acc
