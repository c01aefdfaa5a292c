import numpy as np
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit
def matmul_2d(A, B, C):  # <- not-used
    tid = cuda.threadIdx.x
    y = cuda.blockIdx.y * BM + tid // 16 * TM
    x = cuda.blockIdx.x * BN + tid % 16 * TN
    for i in range(TM):
        for j in range(TN):
            if y + i < C.shape[0] and x + j < C.shape[1]:
                total = float32(0)
                for k in range(A.shape[1]):
                    total += A[y + i, k] * B[k, x + j]
                C[y + i, x + j] = total
