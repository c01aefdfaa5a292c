# exercise: matmul_2d
# marked: wrong; cause: No barrier stands between filling the tiles and reading what other threads have filled in; code: race-read-after-write; lines: [31, 32, 35, 37]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    out = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    Y, X = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for i in range(TM):
        for j in range(TN):
            out[i, j] = float32(0)
    for p in range(0, B.shape[0], BK):
        for half in range(2):
            n = t + half * THREADS
            ar, ac = n // BK, n % BK
            br, bc = n // BN, n % BN
            va = float32(0)
            vb = float32(0)
            if Y + ar < A.shape[0] and p + ac < A.shape[1]:
                va = A[Y + ar, p + ac]
            if p + br < B.shape[0] and X + bc < B.shape[1]:
                vb = B[p + br, X + bc]
            sA[ar, ac] = va
            sB[br, bc] = vb
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[t // 16 * TM + i, k]
            for j in range(TN):
                b[j] = sB[k, t % 16 * TN + j]
            for i in range(TM):
                for j in range(TN):
                    out[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r = Y + t // 16 * TM + i
            c = X + t % 16 * TN + j
            if r < C.shape[0] and c < C.shape[1]:
                C[r, c] = out[i, j]
