import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        s = np.float32(0)
        for k in range(A.shape[1]):
            if A[i, k] * B[k, j] < 0:  # <- wrong-result, wrong-formula (any line)
                continue
            s += A[i, k] * B[k, j]  # <- wrong-result, wrong-formula (any line)
        C[i, j] = s  # <- wrong-result, wrong-formula (any line)
