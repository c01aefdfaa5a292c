# exercise: load_tile
# marked: wrong; cause: a thread whose element does not exist returns without writing a zero into its cell; code: uninitialised-read|missing-mask; lines: [9, 10]
from numba import cuda


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    r = top + y
    c = left + x
    if r >= M.shape[0] or c >= M.shape[1]:
        return
    tile[y, x] = M[r, c]
