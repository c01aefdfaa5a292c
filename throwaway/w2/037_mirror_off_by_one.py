# exercise: mirror_rows
# marked: wrong; cause: the mirrored column lacks the - 1, so column 0 reads past the end of the row; code: wrong-index|out-of-bounds-read; lines: [9]
from numba import cuda


@cuda.jit
def mirror_rows(A, B):
    x, y = cuda.grid(2)
    height, width = A.shape
    if y < height and x < width:
        opposite = width - x
        B[y, x] = A[y, opposite]
