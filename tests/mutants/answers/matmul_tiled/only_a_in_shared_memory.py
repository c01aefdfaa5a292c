import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    K = A.shape[1]
    acc = np.float32(0)
    for start in range(0, K, TILE):
        if row < A.shape[0] and start + tx < K:
            sA[ty, tx] = A[row, start + tx]
        cuda.syncthreads()
        if row < C.shape[0] and col < C.shape[1]:
            for k in range(min(TILE, K - start)):
                acc += sA[ty, k] * B[start + k, col]  # <- excess-global-traffic, not-used
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
