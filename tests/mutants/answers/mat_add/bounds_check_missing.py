from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    C[row, col] = A[row, col] + B[row, col]  # <- out-of-bounds-read
