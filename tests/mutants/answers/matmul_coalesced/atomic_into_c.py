# EXERCISE matmul_coalesced
from numba import cuda


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            cuda.atomic.add(C, (row, col), A[row, k] * B[k, col])  # <- uninitialised-read
