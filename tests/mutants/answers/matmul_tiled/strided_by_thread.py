# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    acc = float32(0)
    for ka in range(tx, K, TILE):  # <- barrier-divergence
        kb = ka - tx + ty
        sA[ty, tx] = A[row, ka] if row < A.shape[0] else float32(0)
        sB[ty, tx] = B[kb, col] if kb < K and col < B.shape[1] else float32(0)
        cuda.syncthreads()  # <- barrier-divergence
        for k in range(min(TILE, K - ka + tx)):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()  # <- barrier-divergence
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
