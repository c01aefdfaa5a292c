import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    b = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    (M, K), N = A.shape, B.shape[1]
    total = np.float32(0)
    k0 = 0
    while k0 < K:
        if row < M and k0 + x < K:
            a[y, x] = A[row, k0 + x]
        if k0 + y < K and col < N:
            b[y, x] = B[k0 + y, col]
        cuda.syncthreads()
        for i in range(TILE):
            total += a[y, i] * b[i, x]  # <- uninitialised-read, stale-shared-read
        cuda.syncthreads()
        k0 += TILE
    if row < M and col < N:
        C[row, col] = total
