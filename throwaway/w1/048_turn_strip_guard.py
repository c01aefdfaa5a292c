# exercise: transpose_tiled
# marked: wrong; cause: The test of the load looks at the first row of the thread only, not at the row of the current strip; code: wrong-bounds-check|out-of-bounds-read; lines: [16, 17]
from numba import cuda, float32

TILE = 32
PITCH = 33
BLOCK = (32, 8)


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PITCH), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    for j in range(0, TILE, 8):
        if row < A.shape[0] and col < A.shape[1]:
            tile[ty + j, tx] = A[row + j, col]
    cuda.syncthreads()
    row = cuda.blockIdx.x * TILE + ty
    col = cuda.blockIdx.y * TILE + tx
    for j in range(0, TILE, 8):
        if row + j < B.shape[0] and col < B.shape[1]:
            B[row + j, col] = tile[tx, ty + j]
