# exercise: matmul_naive
# marked: wrong; cause: The loop is left before the last product has been added; code: wrong-loop-bound; lines: [12]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        last = A.shape[1] - 1
        total = float32(0)
        k = 0
        while True:
            if k >= last:
                break
            total += A[row, k] * B[k, col]
            k = k + 1
        C[row, col] = total
