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
    if row < C.shape[0] and col < C.shape[1]:  # <- barrier-divergence
        k0 = 0
        while k0 < K:
            sA[ty, tx] = float32(0)
            sB[ty, tx] = float32(0)
            if k0 + tx < K:
                sA[ty, tx] = A[row, k0 + tx]
            if k0 + ty < K:
                sB[ty, tx] = B[k0 + ty, col]
            cuda.syncthreads()  # <- barrier-divergence
            for k in range(TILE):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
            k0 += TILE
        C[row, col] = acc
