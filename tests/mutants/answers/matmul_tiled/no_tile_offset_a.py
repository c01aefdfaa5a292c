# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    c, r = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    s = float32(0)
    for base in range(0, K, TILE):
        a_tile[r, c] = float32(0)
        b_tile[r, c] = float32(0)
        if row < A.shape[0] and c < K:  # <- wrong-index
            a_tile[r, c] = A[row, c]  # <- wrong-index
        if base + r < K and col < B.shape[1]:
            b_tile[r, c] = B[base + r, col]
        cuda.syncthreads()
        for q in range(TILE):
            s += a_tile[r, q] * b_tile[q, c]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = s
