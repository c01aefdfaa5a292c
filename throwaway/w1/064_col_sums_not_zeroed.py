# exercise: matmul_1d
# marked: wrong; cause: The loop that zeroes the sums stops at the first one, so the other sums start from whatever the local array holds; code: uninitialised-read|accumulator-error; lines: [12, 28]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    pA = cuda.shared.array((BM, BK), float32)
    pB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    acc[0] = float32(0)
    t = cuda.threadIdx.x
    M, N, K = A.shape[0], B.shape[1], B.shape[0]
    ai, ak = t // BK, t % BK
    bk, bj = t // BN, t % BN
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BN
    my_row = bk * TM
    k0 = 0
    while k0 < K:
        pA[ai, ak] = A[row0 + ai, k0 + ak] if row0 + ai < M and k0 + ak < K else float32(0)
        pB[bk, bj] = B[k0 + bk, col0 + bj] if k0 + bk < K and col0 + bj < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = pB[k, bj]
            for i in range(TM):
                acc[i] += pA[my_row + i, k] * b
        cuda.syncthreads()
        k0 += BK
    for i in range(TM):
        r = row0 + my_row + i
        if r < M and col0 + bj < N:
            C[r, col0 + bj] = acc[i]
