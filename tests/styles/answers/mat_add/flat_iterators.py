# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        i = y * C.shape[1] + x
        C.flat[i] = A.flat[i] + B.flat[i]
