# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
            C[row, col] = total  # <- excess-global-traffic (warning)
