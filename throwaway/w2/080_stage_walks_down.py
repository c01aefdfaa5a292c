# exercise: stage_tile
# marked: wrong; cause: the threads are numbered with y running fastest, so the lanes of a warp walk down the columns; code: uncoalesced-load|uncoalesced-store; lines: [6]
from numba import cuda


@cuda.jit
def stage_tile(A, tile):
    n = cuda.threadIdx.x * 8 + cuda.threadIdx.y
    r = n // 8
    c = n - 8 * r
    tile[r, c] = A[r, c + 8]
