# exercise: transpose_tiled
# marked: wrong; cause: The store reuses the test of the load, which speaks of another element; code: wrong-bounds-check|out-of-bounds-write|incomplete-output; lines: [18, 19]
from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    t = cuda.shared.array((TILE, PITCH), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    exists = row < A.shape[0] and col < A.shape[1]
    if exists:
        t[ty, tx] = A[row, col]
    cuda.syncthreads()
    u = cuda.blockIdx.x * TILE + ty
    v = cuda.blockIdx.y * TILE + tx
    if exists:
        B[u, v] = t[tx, ty]
