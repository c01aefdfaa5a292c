# EXERCISE matmul_naive
import numba
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    acc = cuda.local.array(1, numba.float32)
    acc[:] = 0
    x, y = cuda.grid(2)
    if y >= C.shape[0] or x >= C.shape[1]:
        return
    for k in range(len(B)):
        acc[0] += A[y, k] * B[k, x]
    C[y, x] = acc[0]
