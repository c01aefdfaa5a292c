# exercise: matmul_2d
# marked: right
from numba import cuda, float32

BM, BN, BK = 32, 32, 16
TM, TN = 4, 4
THREADS = 64
SUMS = 16


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array(512, float32)
    sB = cuda.shared.array(512, float32)
    acc = cuda.local.array(SUMS, float32)
    b = cuda.local.array(TN, float32)
    me = cuda.threadIdx.x
    by, bx = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    y, x = me // 8, me % 8
    for n in range(SUMS):
        acc[n] = float32(0)
    for k0 in range(0, B.shape[0], BK):
        for n in range(me, 512, THREADS):
            ai, ak = by + n // BK, k0 + n % BK
            bk, bj = k0 + n // BN, bx + n % BN
            sA[n] = A[ai, ak] if ai < A.shape[0] and ak < A.shape[1] else float32(0)
            sB[n] = B[bk, bj] if bk < B.shape[0] and bj < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for j in range(TN):
                b[j] = sB[k * BN + x + 8 * j]
            for i in range(TM):
                a = sA[(y + 8 * i) * BK + k]
                for j in range(TN):
                    acc[i * TN + j] += a * b[j]
        cuda.syncthreads()
    for n in range(SUMS):
        r, c = by + y + 8 * (n // TN), bx + x + 8 * (n % TN)
        if r < C.shape[0] and c < C.shape[1]:
            C[r, c] = acc[n]
