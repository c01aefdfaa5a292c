# exercise: mat_add
# marked: wrong; cause: The flat number of an element is built with the number of rows as the row length, but taken apart with the number of columns; code: wrong-index|incomplete-output; lines: [10]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    M = C.shape[0]
    N = C.shape[1]
    if x < N and y < M:
        n = y * M + x
        row = n // N
        col = n % N
        if row < M:
            C[row, col] = A[row, col] + B[row, col]
