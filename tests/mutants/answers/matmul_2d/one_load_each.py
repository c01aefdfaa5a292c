# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    ra = cuda.local.array(TM, float32)
    rb = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    M, N = C.shape
    K = A.shape[1]
    y0, x0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    ty, tx = t // 16 * TM, t % 16 * TN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for k0 in range(0, K, BK):
        r, c = t // BK, t % BK
        sA[r, c] = A[y0 + r, k0 + c] if y0 + r < M and k0 + c < K else float32(0)  # <- uninitialised-read, wrong-loop-bound
        r, c = t // BN, t % BN
        sB[r, c] = B[k0 + r, x0 + c] if k0 + r < K and x0 + c < N else float32(0)  # <- uninitialised-read, wrong-loop-bound
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = sA[ty + i, k]  # <- uninitialised-read
            for j in range(TN):
                rb[j] = sB[k, tx + j]  # <- uninitialised-read
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += ra[i] * rb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if y0 + ty + i < M and x0 + tx + j < N:
                C[y0 + ty + i, x0 + tx + j] = acc[i, j]
