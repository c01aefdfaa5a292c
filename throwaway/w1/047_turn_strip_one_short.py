# exercise: transpose_tiled
# marked: wrong; cause: The loop that fills the tile in strips of 8 rows stops before the fourth strip; code: wrong-loop-bound|incomplete-output|uninitialised-read; lines: [17]
from numba import cuda, float32

TILE = 32
PITCH = 33
BLOCK = (32, 8)


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PITCH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    M, N = A.shape
    # 8 rows at a time
    y = ty
    while y < TILE - 8:
        if top + y < M and left + tx < N:
            tile[y, tx] = A[top + y, left + tx]
        y += 8
    cuda.syncthreads()
    for y in range(ty, TILE, 8):
        if left + y < N and top + tx < M:
            B[left + y, top + tx] = tile[tx, y]
