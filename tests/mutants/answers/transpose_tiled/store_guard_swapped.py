# EXERCISE transpose_tiled
from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    M, N = A.shape
    r, c = top + ty, left + tx
    if r < M and c < N:
        tile[ty, tx] = A[r, c]
    cuda.syncthreads()
    r, c = left + ty, top + tx
    if r < M and c < N:  # <- wrong-bounds-check
        B[r, c] = tile[tx, ty]
