# exercise: rows_with_rows
# marked: wrong; cause: the line of the ordinary product was copied, so B is read down a column instead of along a row; code: wrong-index|out-of-bounds-read; lines: [12]
from numba import cuda, float32


@cuda.jit
def rows_with_rows(A, B, C):
    x, y = cuda.grid(2)
    if not (y < C.shape[0] and x < C.shape[1]):
        return
    acc = float32(0)
    for n in range(A.shape[1]):
        left = A[y, n]
        right = B[n, x]
        acc += left * right
    C[y, x] = acc
