# exercise: matmul_2d
# marked: wrong; cause: The numbers of A are fetched once per tile, for its first step only, and used again in all other steps; code: wrong-index|wrong-formula|wrong-result; lines: [32]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // 16 * TM, tid % 16 * TN
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    for start in range(0, K, BK):
        for q in range(tid, BM * BK, THREADS):
            inside = top + q // BK < M and start + q % BK < K
            sA[q // BK, q % BK] = A[top + q // BK, start + q % BK] if inside else float32(0)
        for q in range(tid, BN * BK, THREADS):
            inside = start + q // BN < K and left + q % BN < N
            sB[q // BN, q % BN] = B[start + q // BN, left + q % BN] if inside else float32(0)
        cuda.syncthreads()
        for i in range(TM):
            a[i] = sA[y + i, 0]
        for k in range(BK):
            for j in range(TN):
                b[j] = sB[k, x + j]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if top + y + i < M and left + x + j < N:
                C[top + y + i, left + x + j] = sums[i, j]
