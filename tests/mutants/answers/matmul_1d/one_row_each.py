# EXERCISE matmul_1d
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    res = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BN
    ty = t // BN  # <- wrong-index
    tx = t % BN
    ar, ac = t // BK, t % BK
    br, bc = t // BN, t % BN
    for m in range(TM):
        res[m] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        sA[ar, ac] = float32(0)
        sB[br, bc] = float32(0)
        if row0 + ar < A.shape[0] and k0 + ac < A.shape[1]:
            sA[ar, ac] = A[row0 + ar, k0 + ac]
        if k0 + br < B.shape[0] and col0 + bc < B.shape[1]:
            sB[br, bc] = B[k0 + br, col0 + bc]
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, tx]
            for m in range(TM):
                res[m] += sA[ty + m, k] * b
        cuda.syncthreads()
    for m in range(TM):
        if row0 + ty + m < C.shape[0] and col0 + tx < C.shape[1]:
            C[row0 + ty + m, col0 + tx] = res[m]
