from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col = cuda.grid(2)[0]
    row = cuda.grid(2)[1]
    while row < C.shape[0]:  # <- timeout
        if col < C.shape[1]:
            C[row, col] = A[row, col] + B[row, col]
