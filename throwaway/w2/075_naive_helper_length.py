# exercise: naive_by_rows
# marked: wrong; cause: the helper runs over the number of columns of B instead of the length of the dot product; code: wrong-loop-bound|out-of-bounds-read; lines: [8]
from numba import cuda, float32


@cuda.jit(device=True)
def dot(P, Q, r, c):
    result = float32(0)
    k = 0
    while k < Q.shape[1]:
        result += P[r, k] * Q[k, c]
        k += 1
    return result


@cuda.jit
def naive_by_rows(A, B, C):
    row, column = cuda.grid(2)
    if row >= A.shape[0] or column >= B.shape[1]:
        return
    C[row, column] = dot(A, B, row, column)
