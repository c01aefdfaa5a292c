# exercise: four_rows_each
# marked: wrong; cause: the guard tests only the first of the four rows, the other three may lie below the matrix; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [8, 10]
from numba import cuda


@cuda.jit
def four_rows_each(A, out):
    c = 32 * cuda.blockIdx.x + cuda.threadIdx.x
    r = 32 * cuda.blockIdx.y + cuda.threadIdx.y
    if r < A.shape[0] and c < A.shape[1]:
        for down in (0, 8, 16, 24):
            out[r + down, c] = A[r + down, c] + A[r + down, c]
