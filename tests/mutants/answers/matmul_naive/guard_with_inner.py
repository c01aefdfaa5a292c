# EXERCISE matmul_naive
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    i = cuda.threadIdx.y + cuda.blockDim.y * cuda.blockIdx.y
    m, inner = A.shape
    n = B.shape[1]
    if i >= inner:  # <- wrong-bounds-check
        return
    if j >= n:
        return
    acc = np.float32(0)
    k = 0
    while k < inner:
        acc += A[i, k] * B[k, j]
        k += 1
    C[i, j] = acc
