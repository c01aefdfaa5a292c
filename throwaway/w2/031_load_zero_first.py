# exercise: load_tile
# marked: right
from numba import cuda


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    """Zero first, then the number if there is one."""
    place = cuda.threadIdx.y, cuda.threadIdx.x
    tile[place] = 0
    below = M.shape[0] - top      # rows of M from top on
    right = M.shape[1] - left
    if place[0] < below:
        if place[1] < right:
            tile[place] = M[top + place[0], left + place[1]]
