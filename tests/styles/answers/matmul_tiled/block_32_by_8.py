import numpy as np
from numba import cuda, float32

TILE = 32
BLOCK = (32, 8)
ROWS = 4


@cuda.jit
def matmul_tiled(A, B, C):
    """A 32 x 32 tile of C by 256 threads with four rows each."""
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    sums = cuda.local.array(ROWS, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top = cuda.blockIdx.y * TILE
    col = cuda.blockIdx.x * TILE + tx
    M, K = A.shape
    N = B.shape[1]
    for i in range(ROWS):
        sums[i] = 0
    for start in range(0, K, TILE):
        for i in range(ROWS):
            y = ty + i * 8
            inside_a = top + y < M and start + tx < K
            inside_b = start + y < K and col < N
            sA[y, tx] = A[top + y, start + tx] if inside_a else float32(0)
            sB[y, tx] = B[start + y, col] if inside_b else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            b = sB[k, tx]
            for i in range(ROWS):
                sums[i] += sA[ty + i * 8, k] * b
        cuda.syncthreads()
    for i in range(ROWS):
        row = top + ty + i * 8
        if row < M and col < N:
            C[row, col] = np.float32(sums[i])
