# EXERCISE matmul_1d
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    gy, gx = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // BN * TM, tid % BN
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, K, BK):
        r, c = tid // BK, tid % BK
        sA[r, c] = A[gy + r, k0 + c] if gy + r < M and k0 + c < K else float32(0)
        r, c = tid // BN, tid % BN
        sB[r, c] = B[k0 + r, gx + c] if k0 + r < K and gx + c < N else float32(0)
        cuda.syncthreads()
        for i in range(TM):
            for k in range(BK):
                acc[i] += sA[y + i, k] * sB[k, x]  # <- not-used
        cuda.syncthreads()
    for i in range(TM):
        if gy + y + i < M and gx + x < N:
            C[gy + y + i, gx + x] = acc[i]
