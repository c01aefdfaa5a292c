import numpy as np
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8
ZERO = np.float32(0)


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    tid = np.uint32(cuda.threadIdx.x)
    bx, by = np.uint32(cuda.blockIdx.x), np.uint32(cuda.blockIdx.y)
    M, N, K = np.uint32(A.shape[0]), np.uint32(B.shape[1]), np.uint32(A.shape[1])
    y, x = tid // np.uint32(BN) * np.uint32(TM), tid % np.uint32(BN)
    a_y, a_x = tid // np.uint32(BK), tid % np.uint32(BK)
    for i in range(TM):
        sums[i] = ZERO
    start = np.uint32(0)
    while start < K:
        a = b = ZERO
        if by * BM + a_y < M and start + a_x < K:
            a = A[by * BM + a_y, start + a_x]
        if start + tid // BN < K and bx * BN + x < N:
            b = B[start + tid // BN, bx * BN + x]
        sA[a_y, a_x] = a
        sB[tid // BN, x] = b
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                sums[i] += sA[y + i, k] * b
        cuda.syncthreads()
        start += np.uint32(BK)
    for i in range(TM):
        if by * BM + y + i < M and bx * BN + x < N:
            C[by * BM + y + i, bx * BN + x] = sums[i]
