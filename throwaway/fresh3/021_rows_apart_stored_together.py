# exercise: matmul_1d
# marked: wrong; cause: the sums are of rows that lie 8 apart, but they are stored in 8 neighbouring rows; code: wrong-index; lines: [41]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8
APART = 8


@cuda.jit
def matmul_1d(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    sa = cuda.shared.array((BM, BK), float32)
    sb = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    for r in range(TM):
        acc[r] = 0
    t = cuda.threadIdx.x
    group, c = t // BN, t % BN
    col = cuda.blockIdx.x * BN + c
    top = cuda.blockIdx.y * BM
    k0 = 0
    while k0 < K:
        row = top + t // BK
        k = k0 + t % BK
        if row < M and k < K:
            sa[t // BK, t % BK] = A[row, k]
        else:
            sa[t // BK, t % BK] = 0
        if k0 + group < K and col < N:
            sb[group, c] = B[k0 + group, col]
        else:
            sb[group, c] = 0
        cuda.syncthreads()
        for k in range(BK):
            held = sb[k, c]
            for r in range(TM):
                acc[r] += sa[group + APART * r, k] * held
        cuda.syncthreads()
        k0 += BK
    for r in range(TM):
        row = top + TM * group + r
        if row < M and col < N:
            C[row, col] = acc[r]
