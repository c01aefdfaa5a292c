# exercise: load_tile
# marked: right; style: writes the zero first and the element over it, asks how much of M is left
from numba import cuda


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    rows_left = M.shape[0] - top
    columns_left = M.shape[1] - left
    across = cuda.threadIdx.x
    down = cuda.threadIdx.y
    tile[down, across] = 0
    if down < rows_left:
        if across < columns_left:
            tile[down, across] = M[top + down, left + across]
