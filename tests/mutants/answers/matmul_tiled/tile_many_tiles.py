# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for t in range(TILE):  # <- wrong-loop-bound
        p, q = t * TILE + tx, t * TILE + ty
        sA[ty, tx] = A[row, p] if row < A.shape[0] and p < A.shape[1] else float32(0)
        sB[ty, tx] = B[q, col] if q < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
