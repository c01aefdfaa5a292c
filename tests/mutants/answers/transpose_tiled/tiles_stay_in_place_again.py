# EXERCISE transpose_tiled
from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    M, N = A.shape
    if y < M and x < N:
        tile[ty, tx] = A[y, x]
    cuda.syncthreads()
    if y < N and x < M:  # <- wrong-index
        B[y, x] = tile[tx, ty]  # <- wrong-index
