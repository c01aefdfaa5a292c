# exercise: mat_add
# marked: wrong; cause: the lanes of a warp run down a column, because the flat thread number is cut with the remainder as the row; code: uncoalesced-load|uncoalesced-store; lines: [9, 10]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    """Sum of two matrices; threads numbered flat."""
    height, width = C.shape
    number = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    r = 16 * cuda.blockIdx.y + number % 16
    c = 16 * cuda.blockIdx.x + number // 16
    if r < height:
        if c < width:
            C[r, c] = A[r, c] + B[r, c]
