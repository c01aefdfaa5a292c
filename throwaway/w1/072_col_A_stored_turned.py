# exercise: matmul_1d
# marked: right
from numba import cuda, float32

BM, BN, BK, TM = 64, 32, 8, 8
THREADS = 256
AROW = 65


@cuda.jit
def matmul_1d(A, B, C):
    # tiles numbered flat, A's tile turned, its rows one word longer
    turned = cuda.shared.array((BK, AROW), float32)
    plain = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    me = cuda.threadIdx.x
    col_in, group = me % BN, me // BN
    for q in range(TM):
        acc[q] = float32(0)
    for s in range((A.shape[1] + BK - 1) // BK):
        cell = me
        while cell < BM * BK:
            i, k = cell // BK, cell % BK
            gi, gk = cuda.blockIdx.y * BM + i, s * BK + k
            turned[k, i] = A[gi, gk] if gi < A.shape[0] and gk < A.shape[1] else float32(0)
            cell += THREADS
        cell = me
        while cell < BK * BN:
            k, j = cell // BN, cell % BN
            gk, gj = s * BK + k, cuda.blockIdx.x * BN + j
            plain[k, j] = B[gk, gj] if gk < B.shape[0] and gj < B.shape[1] else float32(0)
            cell += THREADS
        cuda.syncthreads()
        for k in range(BK):
            b = plain[k, col_in]
            for q in range(TM):
                acc[q] += turned[k, group * TM + q] * b
        cuda.syncthreads()
    gj = cuda.blockIdx.x * BN + col_in
    for q in range(TM):
        gi = cuda.blockIdx.y * BM + group * TM + q
        if gi < C.shape[0] and gj < C.shape[1]:
            C[gi, gj] = acc[q]
