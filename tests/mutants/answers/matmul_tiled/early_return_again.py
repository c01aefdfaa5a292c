# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N = C.shape
    K = A.shape[1]
    if row >= M or col >= N:  # <- barrier-divergence
        return  # <- barrier-divergence
    acc = float32(0)
    for k0 in range(0, K, TILE):
        sA[ty, tx] = A[row, k0 + tx] if k0 + tx < K else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if k0 + ty < K else float32(0)
        cuda.syncthreads()  # <- barrier-divergence
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[row, col] = acc
