import numpy as np
from numba import cuda, float32

BM = 64
BN = 64
BK = 8
TM = 8
BLOCK = (256,)


@cuda.jit
def matmul_1d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BN
    thread_row = t // BN
    thread_col = t % BN
    for i in range(TM):
        acc[i] = np.float32(0)
    k0 = 0
    while k0 < A.shape[1]:
        if row0 + t // BK < A.shape[0] and k0 + t % BK < A.shape[1]:
            As[t // BK, t % BK] = A[row0 + t // BK, k0 + t % BK]
        else:
            As[t // BK, t % BK] = 0
        if k0 + t // BN < B.shape[0] and col0 + t % BN < B.shape[1]:
            Bs[t // BN, t % BN] = B[k0 + t // BN, col0 + t % BN]
        else:
            Bs[t // BN, t % BN] = 0
        cuda.syncthreads()
        for k in range(BK):
            from_b = Bs[k, thread_col]
            for i in range(TM):
                acc[i] += As[thread_row * TM + i, k] * from_b
        cuda.syncthreads()
        k0 += BK
    col = col0 + thread_col
    for i in range(TM):
        row = row0 + thread_row * TM + i
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = acc[i]
