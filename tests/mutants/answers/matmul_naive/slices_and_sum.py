# EXERCISE matmul_naive
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = (A[row, :] * B[:, col]).sum()  # <- compile-error, unsupported
