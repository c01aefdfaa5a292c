from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] * (  # <- numerical-overflow, wrong-formula, float64-arithmetic
            1 + B[row, col] / A[row, col]
        )
