# exercise: load_tile
# marked: wrong; cause: the guard asks for the thread's place in the grid, although the tile begins at top and left; code: wrong-bounds-check|wrong-index|out-of-bounds-read; lines: [7, 8]
from numba import cuda, float32


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < M.shape[0] and column < M.shape[1]:
        tile[ty, tx] = M[top + ty, left + tx]
    else:
        tile[ty, tx] = float32(0)
