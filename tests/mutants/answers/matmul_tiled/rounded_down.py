# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = A.shape[0], B.shape[1], A.shape[1]
    n_tiles = K // TILE  # <- wrong-loop-bound
    acc = float32(0)
    for t in range(n_tiles):  # <- wrong-loop-bound
        sA[ty, tx] = A[row, t * TILE + tx] if row < M else float32(0)
        sB[ty, tx] = B[t * TILE + ty, col] if col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
