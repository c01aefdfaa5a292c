# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    n = A.shape[0]
    if row < n and col < n:  # <- wrong-bounds-check
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
