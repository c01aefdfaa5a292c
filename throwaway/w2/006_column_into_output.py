# exercise: column_sums
# marked: wrong; cause: the sum is collected in y itself, which nobody has set to zero; code: uninitialised-read|accumulator-error; lines: [10]
from numba import cuda


@cuda.jit
def column_sums(A, y):
    c = cuda.grid(1)
    if c >= A.shape[1]:
        return
    for r in range(A.shape[0]):
        y[c] += A[r, c]
