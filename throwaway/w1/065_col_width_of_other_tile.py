# exercise: matmul_1d
# marked: wrong; cause: The place in A's tile is worked out with the width of B's tile; code: wrong-index|out-of-bounds-write|race-write-after-write; lines: [16, 17]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    for i in range(TM):
        acc[i] = 0
    tid = cuda.threadIdx.x
    # where I load
    load_row_a = tid // BN
    load_col_a = tid % BN
    load_row_b = tid // BN
    load_col_b = tid % BN
    # what I own
    own_col = tid % BN
    own_row = tid // BN * TM
    top = cuda.blockIdx.y * BM
    left = cuda.blockIdx.x * BN
    for start in range(0, A.shape[1], BK):
        a = float32(0)
        if top + load_row_a < A.shape[0] and start + load_col_a < A.shape[1]:
            a = A[top + load_row_a, start + load_col_a]
        b = float32(0)
        if start + load_row_b < B.shape[0] and left + load_col_b < B.shape[1]:
            b = B[start + load_row_b, left + load_col_b]
        sA[load_row_a, load_col_a] = a
        sB[load_row_b, load_col_b] = b
        cuda.syncthreads()
        for k in range(BK):
            one = sB[k, own_col]
            for i in range(TM):
                acc[i] += sA[own_row + i, k] * one
        cuda.syncthreads()
    for i in range(TM):
        if top + own_row + i < C.shape[0] and left + own_col < C.shape[1]:
            C[top + own_row + i, left + own_col] = acc[i]
