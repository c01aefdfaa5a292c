from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        if A[row, col]:  # <- wrong-formula, incomplete-output, wrong-result
            C[row, col] = A[row, col] + B[row, col]  # <- incomplete-output
