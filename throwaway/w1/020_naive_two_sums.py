# exercise: matmul_naive
# marked: right
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        even = np.float32(0)
        odd = np.float32(0)
        k = 1
        while k < A.shape[1]:
            even += A[i, k - 1] * B[k - 1, j]
            odd += A[i, k] * B[k, j]
            k += 2
        if A.shape[1] % 2 == 1:
            even += A[i, A.shape[1] - 1] * B[A.shape[1] - 1, j]
        C[i, j] = even + odd
