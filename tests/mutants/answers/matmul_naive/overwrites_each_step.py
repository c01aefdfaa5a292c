# EXERCISE matmul_naive
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        for k in range(A.shape[1]):
            C[i, j] = A[i, k] * B[k, j]  # <- accumulator-error
