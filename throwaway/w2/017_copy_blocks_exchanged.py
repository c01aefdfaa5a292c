# exercise: repair_copy
# marked: wrong; cause: the block's x goes to the row and its y to the column, so a matrix that is not square is not covered; code: wrong-index|incomplete-output; lines: [7, 8]
from numba import cuda


@cuda.jit
def repair_copy(A, B):
    """B = A, in blocks of 16 x 16."""
    row = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]
