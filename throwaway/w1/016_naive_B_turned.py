# exercise: matmul_naive
# marked: wrong; cause: B is read along a row, with the column of the output as its first index; code: wrong-index|out-of-bounds-read; lines: [12]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    in_rows = row < C.shape[0]
    in_cols = col < C.shape[1]
    if in_rows and in_cols:
        dot = float32(0)
        for k in range(A.shape[1]):
            dot += A[row, k] * B[col, k]
        C[row, col] = dot
