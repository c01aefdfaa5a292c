from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] or col < C.shape[1]:  # <- wrong-bounds-check
        C[row, col] = A[row, col] + B[row, col]
