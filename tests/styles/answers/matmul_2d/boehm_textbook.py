# EXERCISE matmul_2d
from numba import cuda, float32

BM = 64
BN = 64
BK = 8
TM = 4
TN = 4


@cuda.jit
def matmul_2d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    results = cuda.local.array((TM, TN), float32)
    regM = cuda.local.array(TM, float32)
    regN = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    numThreads = (BM * BN) // (TM * TN)
    threadCol = tid % (BN // TN)
    threadRow = tid // (BN // TN)
    innerRowA, innerColA = tid // BK, tid % BK
    strideA = numThreads // BK
    innerRowB, innerColB = tid // BN, tid % BN
    strideB = numThreads // BN
    M, K = A.shape
    N = B.shape[1]
    rowBase, colBase = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    results[:, :] = 0.0
    for bk in range(0, K, BK):
        for off in range(0, BM, strideA):
            r, c = rowBase + innerRowA + off, bk + innerColA
            As[innerRowA + off, innerColA] = A[r, c] if r < M and c < K else float32(0)
        for off in range(0, BK, strideB):
            r, c = bk + innerRowB + off, colBase + innerColB
            Bs[innerRowB + off, innerColB] = B[r, c] if r < K and c < N else float32(0)
        cuda.syncthreads()
        for dot in range(BK):
            for i in range(TM):
                regM[i] = As[threadRow * TM + i, dot]
            for j in range(TN):
                regN[j] = Bs[dot, threadCol * TN + j]
            for i in range(TM):
                for j in range(TN):
                    results[i, j] += regM[i] * regN[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r = rowBase + threadRow * TM + i
            c = colBase + threadCol * TN + j
            if r < M and c < N:
                C[r, c] = results[i, j]
