from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = A[i, j] + B[i, j]  # <- race-write-after-write
