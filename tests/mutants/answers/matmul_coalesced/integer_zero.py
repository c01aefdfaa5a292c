# EXERCISE matmul_coalesced
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = 0  # <- float64-arithmetic
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
