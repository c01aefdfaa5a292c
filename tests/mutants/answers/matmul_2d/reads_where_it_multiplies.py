# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM, TN), float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // 16, tid % 16
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    for start in range(0, K, BK):
        for cell in range(tid, 512, THREADS):
            r, c = cell // BK, cell % BK
            sA[r, c] = A[top + r, start + c] if top + r < M and start + c < K else float32(0)
            r, c = cell // BN, cell % BN
            sB[r, c] = B[start + r, left + c] if start + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += sA[y + 16 * i, k] * sB[k, x + 16 * j]  # <- not-used
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if top + y + 16 * i < M and left + x + 16 * j < N:
                C[top + y + 16 * i, left + x + 16 * j] = sums[i, j]
