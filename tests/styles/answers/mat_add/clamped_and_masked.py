from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    height, width = A.shape[0], A.shape[1]
    r = min(row, height - 1)
    c = min(col, width - 1)
    total = A[r, c] + B[r, c]
    if r == row and c == col:
        C[r, c] = total
