import numpy as np
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    M, N, K = A.shape[0], B.shape[1], A.shape[1]
    row, col = cuda.blockIdx.y * BM + tid // BN * TM, cuda.blockIdx.x * BN + tid % BN
    a_row = min(cuda.blockIdx.y * BM + tid // BK, M - 1)
    b_col = min(col, N - 1)
    for i in range(TM):
        sums[i] = float32(0)
    start = 0
    while start + BK <= K:
        sA[tid // BK, tid % BK] = A[a_row, start + tid % BK]
        sB[tid // BN, tid % BN] = B[start + tid // BN, b_col]
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, tid % BN]
            for i in range(TM):
                sums[i] += sA[tid // BN * TM + i, k] * b
        cuda.syncthreads()
        start += BK
    while start < K:
        b = B[start, b_col]
        for i in range(TM):
            sums[i] += A[min(row + i, M - 1), start] * b
        start += 1
    if col < N:
        for i in range(TM):
            if row + i < M:
                C[row + i, col] = sums[i]
