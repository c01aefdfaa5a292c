# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256
BM_PAD = BM + 4


@cuda.jit
def matmul_2d(A, B, C):
    sAt = cuda.shared.array((BK, BM_PAD), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    ty, tx = t // 16, t % 16
    M, N = C.shape
    K = A.shape[1]
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for i in range(TM):
        acc[i, :] = 0
    for k0 in range(0, K, BK):
        for cell in range(t, BM * BK, THREADS):
            r, c = cell // BK, cell % BK
            sAt[c, r] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
        for cell in range(t, BK * BN, THREADS):
            r, c = cell // BN, cell % BN
            sB[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sAt[k, ty + 16 * i]
            for j in range(TN):
                b = sB[k, tx + 16 * j]
                for i in range(TM):
                    acc[i, j] += a[i] * b
        cuda.syncthreads()
    for j in range(TN):
        c = left + tx + 16 * j
        if c < N:
            for i in range(TM):
                r = top + ty + 16 * i
                if r < M:
                    C[r, c] = acc[i, j]
