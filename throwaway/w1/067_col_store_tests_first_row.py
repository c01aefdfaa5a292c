# exercise: matmul_1d
# marked: wrong; cause: The store tests the first row of the thread once and then writes all TM rows; code: wrong-bounds-check|out-of-bounds-write; lines: [33, 35]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit(device=True)
def at(X, i, j):
    inside = i < X.shape[0] and j < X.shape[1]
    return X[i, j] if inside else float32(0)


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    me = cuda.threadIdx.x
    up, across = me // BN, me % BN
    row = cuda.blockIdx.y * BM + up * TM
    col = cuda.blockIdx.x * BN + across
    for i in range(TM):
        sums[i] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        sA[me // BK, me % BK] = at(A, cuda.blockIdx.y * BM + me // BK, k0 + me % BK)
        sB[up, across] = at(B, k0 + up, col)
        cuda.syncthreads()
        for k in range(BK):
            shared_b = sB[k, across]
            for i in range(TM):
                sums[i] += sA[up * TM + i, k] * shared_b
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        for i in range(TM):
            C[row + i, col] = sums[i]
