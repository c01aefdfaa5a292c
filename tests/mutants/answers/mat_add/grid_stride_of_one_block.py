from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x0, y0 = cuda.grid(2)
    for y in range(y0, C.shape[0], cuda.blockDim.y):  # <- race-write-after-write
        for x in range(x0, C.shape[1], cuda.blockDim.x):  # <- race-write-after-write
            C[y, x] = A[y, x] + B[y, x]  # <- race-write-after-write
