from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = (A[y, x] + B[y, x]) // 1  # <- integer-arithmetic
