# EXERCISE mat_add
from numba import cuda


@cuda.jit(device=True)
def add(p, q):
    return p + q


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = add(A[y, x], A[y, x])  # <- wrong-formula, wrong-index
