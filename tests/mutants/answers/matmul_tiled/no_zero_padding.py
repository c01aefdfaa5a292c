# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        if y < A.shape[0] and t * TILE + tx < A.shape[1]:  # <- missing-mask, uninitialised-read, stale-shared-read
            sA[ty, tx] = A[y, t * TILE + tx]
        if t * TILE + ty < B.shape[0] and x < B.shape[1]:  # <- missing-mask, uninitialised-read, stale-shared-read
            sB[ty, tx] = B[t * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]  # <- uninitialised-read, stale-shared-read, missing-mask
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = acc
