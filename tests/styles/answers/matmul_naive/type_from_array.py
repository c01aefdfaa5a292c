# EXERCISE matmul_naive
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        acc = C.dtype.type(0)
        for k in range(A.shape[1]):
            acc += A[y, k] * B[k, x]
        C[y, x] = acc
