# exercise: repair_copy
# marked: wrong; cause: the block numbers are exchanged as well: blockIdx.x counts rows here, though the grid has its x along the columns; code: wrong-index|incomplete-output; lines: [7, 8]
from numba import cuda


@cuda.jit
def repair_copy(A, B):
    rows, cols = B.shape
    r = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    c = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if r >= rows or c >= cols:
        return
    B[r, c] = A[r, c]
