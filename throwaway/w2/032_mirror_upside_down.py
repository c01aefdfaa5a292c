# exercise: mirror_rows
# marked: wrong; cause: the row is mirrored instead of the column; code: wrong-index; lines: [9]
from numba import cuda


@cuda.jit
def mirror_rows(A, B):
    col, row = cuda.grid(2)
    if row >= A.shape[0] or col >= A.shape[1]:
        return
    source = A.shape[0] - row - 1
    B[row, col] = A[source, col]
