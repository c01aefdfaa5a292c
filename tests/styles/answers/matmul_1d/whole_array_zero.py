# EXERCISE matmul_1d
import numpy as np
from numba import cuda, float32

BM = BN = 64
BK = TM = 8
GROUPS = BM // TM


@cuda.jit
def matmul_1d(A, B, C):
    a = cuda.shared.array((BM, BK), float32)
    b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    acc[:] = 0
    t = cuda.threadIdx.x
    g, x = divmod(t, BN)
    ar, ac = divmod(t, BK)
    M, N = C.shape
    K = A.shape[1]
    row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for k0 in range(0, K, BK):
        a[ar, ac] = A[row0 + ar, k0 + ac] if row0 + ar < M and k0 + ac < K else np.float32(0)
        b[g, x] = B[k0 + g, col0 + x] if k0 + g < K and col0 + x < N else np.float32(0)
        cuda.syncthreads()
        for k in range(BK):
            right = b[k, x]
            for i in range(TM):
                acc[i] += a[g + i * GROUPS, k] * right
        cuda.syncthreads()
    for i in range(TM):
        r = row0 + g + i * GROUPS
        if r < M and col0 + x < N:
            C[r, col0 + x] = acc[i]
