# EXERCISE matmul_naive
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    c, r = cuda.grid(2)
    if r < C.shape[0] and c < C.shape[1]:
        tmp = 0.  # <- float64-arithmetic
        for k in range(A.shape[1]):
            tmp += A[r, k] * B[k, c]
        C[r, c] = tmp
