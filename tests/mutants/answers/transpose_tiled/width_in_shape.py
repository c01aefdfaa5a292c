# EXERCISE transpose_tiled
from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, TILE + 1), float32)  # <- compile-error
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        tile[ty, tx] = A[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < B.shape[0] and x < B.shape[1]:
        B[y, x] = tile[tx, ty]
