# exercise: mat_add
# marked: wrong; cause: The line for the row was copied from that of the column and still takes threadIdx.x; code: wrong-index|incomplete-output; lines: [9]
from numba import cuda


@cuda.jit
def mat_add(first, second, result):
    bx = cuda.blockIdx.x
    by = cuda.blockIdx.y
    column = bx * cuda.blockDim.x + cuda.threadIdx.x
    row = by * cuda.blockDim.y + cuda.threadIdx.x
    ok = row < result.shape[0] and column < result.shape[1]
    if ok:
        a = first[row, column]
        b = second[row, column]
        result[row, column] = a + b
