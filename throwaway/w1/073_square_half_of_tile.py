# exercise: matmul_2d
# marked: wrong; cause: Each thread loads one cell of B's tile, though the tile has twice as many cells as the block has threads; code: wrong-loop-bound|uninitialised-read|stale-shared-read; lines: [29, 31]
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
    tid = cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    top = cuda.blockIdx.y * BM
    left = cuda.blockIdx.x * BN
    y = tid // 16 * TM
    x = tid % 16 * TN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for start in range(0, K, BK):
        for cell in range(tid, BM * BK, 256):
            r = cell // BK
            c = cell % BK
            sA[r, c] = A[top + r, start + c] if top + r < M and start + c < K else float32(0)
        r = tid // BN
        c = tid % BN
        sB[r, c] = B[start + r, left + c] if start + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = sA[y + i, k]
            for j in range(TN):
                rb[j] = sB[k, x + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += ra[i] * rb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if top + y + i < M and left + x + j < N:
                C[top + y + i, left + x + j] = acc[i, j]
