# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    regs = cuda.local.array((TM, TN), float32)
    ra = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    y0, x0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    ty, tx = t // 16, t % 16
    for i in range(TM):
        for j in range(TN):
            regs[i, j] = float32(0)
    for k0 in range(0, K, BK):
        for h in range(2):
            r, c = t // 8 + 32 * h, t % 8
            sA[r, c] = A[y0 + r, k0 + c] if y0 + r < M and k0 + c < K else float32(0)
            r, c = t // 64 + 4 * h, t % 64
            sB[r, c] = B[k0 + r, x0 + c] if k0 + r < K and x0 + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = sA[ty * TM + i, k]
            for j in range(TN):
                b = sB[k, tx * TN + j]  # <- bank-conflict (warning)
                for i in range(TM):
                    regs[i, j] += ra[i] * b
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if y0 + ty * TM + i < M and x0 + tx * TN + j < N:
                C[y0 + ty * TM + i, x0 + tx * TN + j] = regs[i, j]  # <- uncoalesced-store (warning)
