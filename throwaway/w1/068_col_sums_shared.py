# exercise: matmul_1d
# marked: wrong; cause: The sums are one shared array, so all threads of the block add into the same eight cells; code: race-write-after-write|race-read-after-write|race-write-after-read; lines: [11, 19, 33]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.shared.array(TM, float32)
    tid = cuda.threadIdx.x
    top = cuda.blockIdx.y * BM
    left = cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    i = 0
    while i < TM:
        sums[i] = float32(0)
        i += 1
    start = 0
    while start < K:
        r = tid // BK
        c = tid % BK
        sA[r, c] = A[top + r, start + c] if top + r < M and start + c < K else float32(0)
        r = tid // BN
        c = tid % BN
        sB[r, c] = B[start + r, left + c] if start + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, c]
            for i in range(TM):
                sums[i] += sA[r * TM + i, k] * b
        cuda.syncthreads()
        start += BK
    for i in range(TM):
        if top + tid // BN * TM + i < M and left + tid % BN < N:
            C[top + tid // BN * TM + i, left + tid % BN] = sums[i]
