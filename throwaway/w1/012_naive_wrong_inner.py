# exercise: matmul_naive
# marked: wrong; cause: The loop runs to the number of columns of B instead of its number of rows; code: wrong-loop-bound|out-of-bounds-read; lines: [10]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row >= A.shape[0] or col >= B.shape[1]:
        return
    s = float32(0)
    for step in range(B.shape[1]):
        left = A[row, step]
        right = B[step, col]
        s = s + left * right
    C[row, col] = s
