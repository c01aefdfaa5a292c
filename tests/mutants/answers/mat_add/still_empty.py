from numba import cuda


@cuda.jit
def mat_add(A, B, C):  # <- missing-answer (any line)
    col, row = cuda.grid(2)
    # your code here
