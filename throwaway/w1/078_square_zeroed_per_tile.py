# exercise: matmul_2d
# marked: wrong; cause: The sums are set to zero for every tile along K, so only the last tile counts; code: accumulator-error; lines: [24]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM, TN), float32)
    fa = cuda.local.array(TM, float32)
    fb = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BN
    down, over = tid // (BN // TN), tid % (BN // TN)
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    for tile in range((K + BK - 1) // BK):
        k0 = tile * BK
        for i in range(TM):
            for j in range(TN):
                sums[i, j] = float32(0)
        for n in range(tid, BM * BK, THREADS):
            r, c = row0 + n // BK, k0 + n % BK
            sA[n // BK, n % BK] = A[r, c] if r < M and c < K else float32(0)
        for n in range(tid, BK * BN, THREADS):
            r, c = k0 + n // BN, col0 + n % BN
            sB[n // BN, n % BN] = B[r, c] if r < K and c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                fa[i] = sA[down * TM + i, k]
            for j in range(TN):
                fb[j] = sB[k, over + 16 * j]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += fa[i] * fb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r, c = row0 + down * TM + i, col0 + over + 16 * j
            if r < M and c < N:
                C[r, c] = sums[i, j]
