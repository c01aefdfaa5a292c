# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    rows, cols = C.shape
    if y < rows:
        if x < cols:
            C[y, x] += A[y, x] + B[y, x]  # <- uninitialised-read
