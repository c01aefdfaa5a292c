# exercise: column_sums
# marked: wrong; cause: the guard compares the column with the height of A; code: wrong-bounds-check|incomplete-output|out-of-bounds-read; lines: [8]
from numba import cuda, float32


@cuda.jit
def column_sums(A, y):
    mine = cuda.grid(1)
    height = A.shape[0]
    if mine < height:
        acc = float32(0)
        for i in range(height):
            acc += A[i, mine]
        y[mine] = acc
