# exercise: matmul_naive
# marked: wrong; cause: The sum starts as an integer zero, so that all additions are done in float64; code: float64-arithmetic; lines: [8]
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    me_x, me_y = cuda.grid(2)
    if me_y < C.shape[0] and me_x < C.shape[1]:
        result = 0
        for q in range(A.shape[1]):
            result += A[me_y, q] * B[q, me_x]
        C[me_y, me_x] = result
