# exercise: repair_copy
# marked: wrong; cause: only the column is compared with the edge, rows past the bottom pass; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [7, 9]
from numba import cuda


@cuda.jit
def repair_copy(A, B):
    column, row = cuda.grid(2)
    if column >= A.shape[1]:
        return
    B[row, column] = A[row, column]
