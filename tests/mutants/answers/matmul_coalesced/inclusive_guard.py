# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    M, N = C.shape
    if row <= M and col <= N:  # <- wrong-bounds-check
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
