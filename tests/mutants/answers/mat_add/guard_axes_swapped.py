# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    H, W = A.shape
    if x < H and y < W:  # <- wrong-bounds-check
        C[y, x] = A[y, x] + B[y, x]
