import numpy as np
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BK, BM), float32)  # <- out-of-bounds-write
    sB = cuda.shared.array((BK, BN), float32)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // (BN // TN) * TM, tid % (BN // TN) * TN

    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    for start in range(0, K, BK):
        for cell in range(tid, BM * BK, THREADS):
            r, c = cell // BK, cell % BK
            inside = top + r < M and start + c < K
            sA[r, c] = A[top + r, start + c] if inside else float32(0)  # <- out-of-bounds-write
        for cell in range(tid, BK * BN, THREADS):
            r, c = cell // BN, cell % BN
            inside = start + r < K and left + c < N
            sB[r, c] = B[start + r, left + c] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[y + i, k]
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
