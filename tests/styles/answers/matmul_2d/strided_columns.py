# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256
ACROSS = BN // TN


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    y, x = t // ACROSS * TM, t % ACROSS
    M, N = C.shape
    K = A.shape[1]
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    acc[:, :] = 0
    for k0 in range(0, K, BK):
        for cell in range(t, BM * BK, THREADS):
            r, c = cell // BK, cell % BK
            sA[r, c] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
        for cell in range(t, BK * BN, THREADS):
            r, c = cell // BN, cell % BN
            sB[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[y + i, k]
            for j in range(TN):
                b[j] = sB[k, x + j * ACROSS]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r, c = top + y + i, left + x + j * ACROSS
            if r < M and c < N:
                C[r, c] = acc[i, j]
