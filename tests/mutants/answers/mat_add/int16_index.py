from numba import cuda, int16


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    row = int16(row)  # <- index-overflow
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
