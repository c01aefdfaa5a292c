# exercise: transpose_tiled
# marked: wrong; cause: Threads without an element of A return before the barrier that the others wait at; code: barrier-divergence; lines: [12, 13]
from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PITCH), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if y >= A.shape[0] or x >= A.shape[1]:
        return
    tile[ty, tx] = A[y, x]
    cuda.syncthreads()
    i = cuda.blockIdx.x * TILE + ty
    j = cuda.blockIdx.y * TILE + tx
    if i < B.shape[0] and j < B.shape[1]:
        B[i, j] = tile[tx, ty]
