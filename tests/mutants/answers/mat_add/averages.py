from numba import cuda, float32


@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    if i >= C.shape[0] or j >= C.shape[1]:
        return
    C[i, j] = (A[i, j] + B[i, j]) * float32(0.5)  # <- wrong-formula
