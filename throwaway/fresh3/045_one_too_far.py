# exercise: mirror_rows
# marked: wrong; cause: the mirrored column is N - column, without the 1: thread 0 reads past the row and everything is shifted by one; code: wrong-index|out-of-bounds-read; lines: [10]
from numba import cuda


@cuda.jit
def mirror_rows(A, B):
    height, width = A.shape
    c, r = cuda.grid(2)
    if r < height:
        if c < width:
            opposite = width - c
            B[r, c] = A[r, opposite]
