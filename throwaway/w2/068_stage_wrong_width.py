# exercise: stage_tile
# marked: wrong; cause: the number is split by 16, the width of the block, instead of 8, the width of the tile; code: wrong-index|out-of-bounds-write|incomplete-output; lines: [7, 8]
from numba import cuda


@cuda.jit
def stage_tile(A, tile):
    number = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    row = number // cuda.blockDim.x
    column = number % cuda.blockDim.x
    tile[row, column] = A[row, column + 8]
