# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16
BLOCK = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * BLOCK + ty, cuda.blockIdx.x * BLOCK + tx
    M, N = C.shape
    K = A.shape[1]
    acc = float32(0)
    for k0 in range(0, K, TILE):
        sA[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            acc += sA[ty, i] * sB[i, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
