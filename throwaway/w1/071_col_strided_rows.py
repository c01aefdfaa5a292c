# exercise: matmul_1d
# marked: right
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8
APART = BM // TM


@cuda.jit
def matmul_1d(A, B, C):
    # a thread owns rows y, y + 8, y + 16, ... of one column
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    y, x = tid // BN, tid % BN
    u, v = tid // BK, tid % BK
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    for i in range(TM):
        sums[i] = float32(0)
    for start in range(0, K, BK):
        sA[u, v] = A[top + u, start + v] if top + u < M and start + v < K else float32(0)
        sB[y, x] = B[start + y, left + x] if start + y < K and left + x < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                sums[i] += sA[y + i * APART, k] * b
        cuda.syncthreads()
    row = top + y
    i = 0
    while row < M and i < TM:
        if left + x < N:
            C[row, left + x] = sums[i]
        row += APART
        i += 1
