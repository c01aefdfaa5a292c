# exercise: row_sums
# marked: wrong; cause: the rotated walk over the row takes 31 steps, so that the number on the diagonal is missing from each sum; code: wrong-loop-bound; lines: [14]
from numba import cuda, float32


@cuda.jit
def row_sums(A, y):
    square = cuda.shared.array((32, 32), float32)
    me = cuda.threadIdx.x
    r = 0
    while r < 32:
        square[r, me] = A[r, me]
        r += 1
    cuda.syncthreads()
    s = float32(0)
    for turn in range(1, 32):
        s += square[me, (me + turn) & 31]
    y[me] = s
