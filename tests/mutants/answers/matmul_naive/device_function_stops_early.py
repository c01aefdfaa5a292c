import numpy as np
from numba import cuda


@cuda.jit(device=True)
def dot(A, B, i, j, n):
    s = np.float32(0)
    for k in range(n):  # <- wrong-loop-bound
        s += A[i, k] * B[k, j]
    return s


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = dot(A, B, i, j, A.shape[1] - 1)  # <- wrong-loop-bound
