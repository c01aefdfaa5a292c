# exercise: load_tile
# marked: wrong; cause: past the edge of M the cell keeps whatever was there, no zero is written; code: uninitialised-read; lines: [8, 9]
from numba import cuda


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    r = top + cuda.threadIdx.y
    c = left + cuda.threadIdx.x
    if r >= M.shape[0] or c >= M.shape[1]:
        return
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = M[r, c]
