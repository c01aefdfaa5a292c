import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    s = float32(0)
    for p in range(0, A.shape[1], TILE):
        As[y, x] = 0
        Bs[y, x] = 0
        if i < A.shape[0] and p + x < A.shape[1]:
            As[y, x] = A[i, p + x]
        if p + y < B.shape[0] and j < B.shape[1]:
            Bs[y, x] = B[p + y, j]
        if x == 0:  # <- barrier-divergence
            cuda.syncthreads()  # <- barrier-divergence
        for k in range(TILE):
            s += As[y, k] * Bs[k, x]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = s
