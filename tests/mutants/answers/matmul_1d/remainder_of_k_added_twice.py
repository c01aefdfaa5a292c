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
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // BN * TM, tid % BN
    a_y, a_x = tid // BK, tid % BK
    b_y, b_x = tid // BN, tid % BN

    for i in range(TM):
        sums[i] = float32(0)
    for start in range(0, K, BK):
        inside = top + a_y < M and start + a_x < K
        sA[a_y, a_x] = A[top + a_y, start + a_x] if inside else float32(0)
        inside = start + b_y < K and left + b_x < N
        sB[b_y, b_x] = B[start + b_y, left + b_x] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                sums[i] += sA[y + i, k] * b  # <- accumulator-error
        cuda.syncthreads()
    for k in range(K // BK * BK, K):  # <- wrong-loop-bound
        for i in range(TM):
            if top + y + i < M and left + x < N:
                sums[i] += A[top + y + i, k] * B[k, left + x]  # <- wrong-loop-bound, accumulator-error
    for i in range(TM):
        if top + y + i < M and left + x < N:
            C[top + y + i, left + x] = sums[i]
