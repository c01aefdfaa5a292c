# exercise: column_sums
# marked: wrong; cause: the loop begins with row 1, so row 0 is missing from every sum; code: wrong-loop-bound|accumulator-error; lines: [10]
from numba import cuda, float32


@cuda.jit
def column_sums(A, y):
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    rows, columns = A.shape
    if column < columns:
        total = float32(0)
        r = 1
        while r < rows:
            total += A[r, column]
            r += 1
        y[column] = total
