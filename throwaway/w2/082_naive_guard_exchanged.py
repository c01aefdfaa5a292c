# exercise: naive_by_rows
# marked: wrong; cause: the guard compares the row with the number of columns and the column with the number of rows; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [7]
from numba import cuda, float32


@cuda.jit
def naive_by_rows(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[1] and j < C.shape[0]:
        s = float32(0.0)
        for p in range(B.shape[0]):
            s = s + A[i, p] * B[p, j]
        C[i, j] = s
