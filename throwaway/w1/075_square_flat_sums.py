# exercise: matmul_2d
# marked: wrong; cause: The flat array of sums is addressed with TM as the row length, but a row has TN sums; code: wrong-index|out-of-bounds-write|out-of-bounds-read; lines: [40, 46]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 8, 4
SUMS = 32
THREADS = 128


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(SUMS, float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // 16 * TM, tid % 16 * TN
    for n in range(SUMS):
        sums[n] = float32(0)
    start = 0
    while start < K:
        cell = tid
        while cell < 512:
            r, c = cell // BK, cell % BK
            sA[r, c] = A[top + r, start + c] if top + r < M and start + c < K else float32(0)
            r, c = cell // BN, cell % BN
            sB[r, c] = B[start + r, left + c] if start + r < K and left + c < N else float32(0)
            cell += THREADS
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[y + i, k]
            for j in range(TN):
                b[j] = sB[k, x + j]
            for i in range(TM):
                for j in range(TN):
                    sums[i * TM + j] += a[i] * b[j]
        cuda.syncthreads()
        start += BK
    for i in range(TM):
        for j in range(TN):
            if top + y + i < M and left + x + j < N:
                C[top + y + i, left + x + j] = sums[i * TM + j]
