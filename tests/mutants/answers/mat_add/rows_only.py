# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0]:  # <- wrong-bounds-check
        s = a[row, col] + b[row, col]
        out[row, col] = s
