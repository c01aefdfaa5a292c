import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    b = cuda.shared.array(shape=(TILE, TILE), dtype=np.float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col = np.int16(col)  # <- index-overflow
    (M, K), N = A.shape, B.shape[1]
    total = np.float32(0)
    k0 = 0
    while k0 < K:
        a[y, x] = A[row, k0 + x] if row < M and k0 + x < K else 0.0
        b[y, x] = B[k0 + y, col] if k0 + y < K and col < N else 0.0
        cuda.syncthreads()
        for i in range(TILE):
            total += a[y, i] * b[i, x]
        cuda.syncthreads()
        k0 += TILE
    if row < M and col < N:
        C[row, col] = total
