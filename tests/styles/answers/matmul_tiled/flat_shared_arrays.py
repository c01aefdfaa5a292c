import numpy as np
from numba import cuda

TILE = 16
CELLS = TILE * TILE


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array(CELLS, np.float32)
    sB = cuda.shared.array(CELLS, np.float32)
    tid = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    ty = tid // TILE
    tx = tid % TILE
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    M, N, K = C.shape[0], C.shape[1], B.shape[0]
    acc = np.float32(0)
    for t in range((K - 1) // TILE + 1):
        k0 = t * TILE
        value = np.float32(0)
        if row < M and k0 + tx < K:
            value = A[row, k0 + tx]
        sA[tid] = value
        value = np.float32(0)
        if k0 + ty < K and col < N:
            value = B[k0 + ty, col]
        sB[tid] = value
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty * TILE + k] * sB[k * TILE + tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
