# exercise: transpose_tiled
# marked: wrong; cause: No barrier stands between filling the tile and reading cells that other threads have filled; code: race-read-after-write; lines: [15, 19]
from numba import cuda, float32

TILE = 32
WIDTH = 33


@cuda.jit
def transpose_tiled(A, B):
    box = cuda.shared.array((TILE, WIDTH), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    from_row = cuda.blockIdx.y * TILE + y
    from_col = cuda.blockIdx.x * TILE + x
    if from_row < A.shape[0] and from_col < A.shape[1]:
        box[y, x] = A[from_row, from_col]
    to_row = cuda.blockIdx.x * TILE + y
    to_col = cuda.blockIdx.y * TILE + x
    if to_row < B.shape[0] and to_col < B.shape[1]:
        B[to_row, to_col] = box[x, y]
