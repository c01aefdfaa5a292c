# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    M, N = C.shape
    i = cuda.grid(1)  # <- wrong-index, incomplete-output
    r, c = i // N, i % N
    if i < M * N:
        C[r, c] = A[r, c] + B[r, c]
