from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = A[i, j] + B[i, 0]  # <- wrong-index
