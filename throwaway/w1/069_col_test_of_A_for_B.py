# exercise: matmul_1d
# marked: wrong; cause: The load of B tests the inner index with the thread's place in A's tile, a condition copied from the load of A; code: wrong-bounds-check|out-of-bounds-read; lines: [27, 28]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    n = cuda.threadIdx.x
    a_row, a_k = n // BK, n % BK
    b_k, b_col = n // BN, n % BN
    row_a = cuda.blockIdx.y * BM + a_row
    col_b = cuda.blockIdx.x * BN + b_col
    first = cuda.blockIdx.y * BM + b_k * TM
    M, K = A.shape
    N = B.shape[1]
    for i in range(TM):
        sums[i] = float32(0)
    for start in range(0, K, BK):
        sA[a_row, a_k] = float32(0)
        if row_a < M and start + a_k < K:
            sA[a_row, a_k] = A[row_a, start + a_k]
        sB[b_k, b_col] = float32(0)
        if col_b < N and start + a_k < K:
            sB[b_k, b_col] = B[start + b_k, col_b]
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, b_col]
            for i in range(TM):
                sums[i] += sA[b_k * TM + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        if first + i < M and col_b < N:
            C[first + i, col_b] = sums[i]
