import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    if i < C.shape[0] and j < C.shape[1]:
        tmp = np.float32(0.)
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp
