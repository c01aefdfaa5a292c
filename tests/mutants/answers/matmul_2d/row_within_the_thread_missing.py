import numpy as np
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit
def matmul_2d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    reg_a = cuda.local.array(TM, float32)
    reg_b = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BN
    ty = t // 16
    tx = t % 16
    a_row = t // BK
    a_col = t % BK
    b_row = t // BN
    b_col = t % BN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = np.float32(0)
    k0 = 0
    while k0 < A.shape[1]:
        for s in range(0, BM, 32):
            if row0 + a_row + s < A.shape[0] and k0 + a_col < A.shape[1]:
                As[a_row + s, a_col] = A[row0 + a_row + s, k0 + a_col]
            else:
                As[a_row + s, a_col] = 0
        for s in range(0, BK, 4):
            if k0 + b_row + s < B.shape[0] and col0 + b_col < B.shape[1]:
                Bs[b_row + s, b_col] = B[k0 + b_row + s, col0 + b_col]
            else:
                Bs[b_row + s, b_col] = 0
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                reg_a[i] = As[ty, k]  # <- wrong-index
            for j in range(TN):
                reg_b[j] = Bs[k, tx + 16 * j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += reg_a[i] * reg_b[j]
        cuda.syncthreads()
        k0 += BK
    for i in range(TM):
        row = row0 + ty + 16 * i
        for j in range(TN):
            col = col0 + tx + 16 * j
            if row < C.shape[0] and col < C.shape[1]:
                C[row, col] = acc[i, j]
