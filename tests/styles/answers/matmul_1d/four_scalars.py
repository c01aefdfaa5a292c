import numpy as np
from numba import cuda, float32

BM, BN, BK, TM = 32, 64, 8, 4


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    t = cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    r, c = t // BN * 4, t % BN
    c0 = c1 = c2 = c3 = float32(0)
    for k0 in range(0, K, BK):
        if t < BM * BK:
            i, j = t // BK, t % BK
            if row0 + i < M and k0 + j < K:
                sA[i, j] = A[row0 + i, k0 + j]
            else:
                sA[i, j] = 0
        i = t // BN
        if k0 + i < K and col0 + c < N:
            sB[i, c] = B[k0 + i, col0 + c]
        else:
            sB[i, c] = 0
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, c]
            c0 += sA[r, k] * b
            c1 += sA[r + 1, k] * b
            c2 += sA[r + 2, k] * b
            c3 += sA[r + 3, k] * b
        cuda.syncthreads()
    if col0 + c < N:
        if row0 + r < M:
            C[row0 + r, col0 + c] = c0
        if row0 + r + 1 < M:
            C[row0 + r + 1, col0 + c] = c1
        if row0 + r + 2 < M:
            C[row0 + r + 2, col0 + c] = c2
        if row0 + r + 3 < M:
            C[row0 + r + 3, col0 + c] = c3
