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
    part, x = tid // BN, tid % BN
    ay, ax = tid // BK, tid % BK
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, K, BK):
        sA[ay, ax] = A[gy + ay, k0 + ax] if gy + ay < M and k0 + ax < K else float32(0)
        sB[part, x] = B[k0 + part, gx + x] if k0 + part < K and gx + x < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                acc[i] += sA[part * TM + i, k] * b  # <- wrong-index
        cuda.syncthreads()
    for i in range(TM):
        row = gy + part + i * TM  # <- wrong-index
        if row < M and gx + x < N:
            C[row, gx + x] = acc[i]  # <- wrong-index
