from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.threadIdx.x, cuda.threadIdx.y  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
