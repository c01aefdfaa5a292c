# exercise: four_rows_each
# marked: wrong; cause: blocks are taken to begin 8 rows apart, the height of the threads, instead of 32, the height of the tile; code: wrong-index|incomplete-output; lines: [6]
from numba import cuda


@cuda.jit
def four_rows_each(A, out):
    column, row = cuda.grid(2)
    if column >= A.shape[1]:
        return
    done = 0
    while done < 4:
        if row < A.shape[0]:
            out[row, column] = 2 * A[row, column]
        row += cuda.blockDim.y
        done += 1
