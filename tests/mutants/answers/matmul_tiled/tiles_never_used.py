# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)
    for t in range(0, K, TILE):
        sA[ty, tx] = A[row, t + tx] if row < M and t + tx < K else float32(0)
        sB[ty, tx] = B[t + ty, col] if t + ty < K and col < N else float32(0)
        cuda.syncthreads()
        if row < M and col < N:
            for k in range(t, min(t + TILE, K)):
                acc += A[row, k] * B[k, col]  # <- not-used, excess-global-traffic
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
