# exercise: stage_tile
# marked: wrong; cause: the tile is taken from the first eight columns of A, the offset of 8 is missing; code: wrong-index; lines: [9]
from numba import cuda


@cuda.jit
def stage_tile(A, tile):
    t = cuda.threadIdx.x + cuda.threadIdx.y * 16
    c = t & 7
    r = t >> 3
    value = A[r, c]
    tile[r, c] = value
