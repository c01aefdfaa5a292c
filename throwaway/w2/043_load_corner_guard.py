# exercise: load_tile
# marked: wrong; cause: the guard tests the corner of the tile instead of this thread's own element; code: wrong-bounds-check|out-of-bounds-read; lines: [9]
from numba import cuda, float32


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    height, width = M.shape
    value = float32(0)
    if top < height and left < width:
        value = M[top + i, left + j]
    tile[i, j] = value
