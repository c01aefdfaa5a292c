# exercise: column_sums
# marked: wrong; cause: the rows are taken in fours and the rows left over at the end are forgotten; code: wrong-loop-bound; lines: [11]
from numba import cuda, float32


@cuda.jit
def column_sums(A, y):
    c = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if c >= A.shape[1]:
        return
    s = float32(0)
    r = 0
    while r + 4 <= A.shape[0]:
        s += A[r, c] + A[r + 1, c] + A[r + 2, c] + A[r + 3, c]
        r += 4
    y[c] = s
