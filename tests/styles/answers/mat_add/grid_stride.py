from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    """Each thread takes every gridsize-th row and column."""
    x0, y0 = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    for y in range(y0, C.shape[0], dy):
        for x in range(x0, C.shape[1], dx):
            C[y, x] = A[y, x] + B[y, x]
