# EXERCISE matmul_1d
from numba import cuda, float32

BM = 64
BN = 64
BK = 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)  # <- uninitialised-read
    tid = cuda.threadIdx.x
    M, N = C.shape
    K = A.shape[1]
    top = cuda.blockIdx.y * BM
    left = cuda.blockIdx.x * BN
    y = tid // BN * TM
    x = tid % BN
    for kt in range((K + BK - 1) // BK):
        r, c = tid // BK, tid % BK
        ok = top + r < M and kt * BK + c < K
        As[r, c] = A[top + r, kt * BK + c] if ok else float32(0)
        r, c = tid // BN, tid % BN
        ok = kt * BK + r < K and left + c < N
        Bs[r, c] = B[kt * BK + r, left + c] if ok else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            tmp = Bs[k, x]
            for i in range(TM):
                acc[i] += As[y + i, k] * tmp  # <- uninitialised-read
        cuda.syncthreads()
    for i in range(TM):
        if top + y + i < M and left + x < N:
            C[top + y + i, left + x] = acc[i]
