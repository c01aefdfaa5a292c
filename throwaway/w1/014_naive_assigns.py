# exercise: matmul_naive
# marked: wrong; cause: Each product replaces the sum, where it should be added to it; code: accumulator-error; lines: [10]
from numba import cuda, float32


@cuda.jit(device=True)
def row_times_column(A, i, B, j):
    value = float32(0)
    n = A.shape[1]
    while n > 0:
        n -= 1
        value = A[i, n] * B[n, j]
    return value


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = row_times_column(A, i, B, j)
