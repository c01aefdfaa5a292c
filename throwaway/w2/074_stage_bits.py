# exercise: stage_tile
# marked: right
from numba import cuda


@cuda.jit(device=True)
def number_of_thread():
    return (cuda.threadIdx.y << 4) | cuda.threadIdx.x


@cuda.jit
def stage_tile(A, tile):
    me = number_of_thread()
    tile[me >> 3, me & 7] = A[me >> 3, (me & 7) | 8]
