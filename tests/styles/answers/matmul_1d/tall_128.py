# EXERCISE matmul_1d
from numba import cuda, float32

BM = 128
BN = 64
BK = 8
TM = 16


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM,), float32)
    t = cuda.threadIdx.x
    M, N = C.shape
    K = A.shape[1]
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    y, x = t // BN * TM, t % BN
    sums[:] = float32(0)
    for k0 in range(0, K, BK):
        for cell in range(t, BM * BK, cuda.blockDim.x):
            r, c = cell // BK, cell % BK
            sA[r, c] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
        for cell in range(t, BK * BN, cuda.blockDim.x):
            r, c = cell // BN, cell % BN
            sB[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                sums[i] += sA[y + i, k] * b
        cuda.syncthreads()
    for i in range(min(TM, M - top - y)):
        if left + x < N:
            C[top + y + i, left + x] = sums[i]
