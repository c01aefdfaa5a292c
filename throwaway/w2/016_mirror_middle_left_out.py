# exercise: mirror_rows
# marked: wrong; cause: only the columns of the rounded-down half are handled in pairs, so the middle column of an odd width is never written; code: incomplete-output|wrong-bounds-check; lines: [9]
from numba import cuda


@cuda.jit
def mirror_rows(A, B):
    column, row = cuda.grid(2)
    n = A.shape[1]
    # each thread exchanges one pair
    if row < A.shape[0] and column < n // 2:
        left = A[row, column]
        right = A[row, n - 1 - column]
        B[row, column] = right
        B[row, n - 1 - column] = left
