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
    ay, ax, by, bx = tid // BK, tid % BK, tid // BN, tid % BN
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, min(K, 64), BK):  # <- wrong-loop-bound
        sA[ay, ax] = A[gy + ay, k0 + ax] if gy + ay < M and k0 + ax < K else float32(0)
        sB[by, bx] = B[k0 + by, gx + bx] if k0 + by < K and gx + bx < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                acc[i] += sA[y + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        if gy + y + i < M and gx + x < N:
            C[gy + y + i, gx + x] = acc[i]
