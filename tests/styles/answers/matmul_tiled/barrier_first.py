import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    M, K = A.shape
    N = B.shape[1]
    acc = np.float32(0)
    k0 = 0
    while True:
        if k0 >= K:
            break
        cuda.syncthreads()
        in_a = row < M and k0 + tx < K
        in_b = k0 + ty < K and col < N
        if in_a:
            sA[ty, tx] = A[row, k0 + tx]
        if not in_a:
            sA[ty, tx] = 0.0
        if in_b:
            sB[ty, tx] = B[k0 + ty, col]
        elif not in_b:
            sB[ty, tx] = 0.0
        cuda.syncthreads()
        part = np.float32(0)
        for k in range(0, TILE, 4):
            part += sA[ty, k] * sB[k, tx] + sA[ty, k + 1] * sB[k + 1, tx]
            part += sA[ty, k + 2] * sB[k + 2, tx] + sA[ty, k + 3] * sB[k + 3, tx]
        acc += part
        k0 += TILE
    if row < M and col < N:
        C[row, col] = acc
