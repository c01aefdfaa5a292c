# exercise: matmul_1d
# marked: wrong; cause: The first row that a thread owns was not multiplied by TM, so neighbouring threads own the same rows and most rows belong to nobody; code: wrong-index|incomplete-output|race-write-after-write; lines: [16]
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    s = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    y0, x0 = BM * cuda.blockIdx.y, BN * cuda.blockIdx.x
    M, N = C.shape
    K = A.shape[1]
    x = tid & 63
    y = tid >> 6
    for q in range(TM):
        s[q] = float32(0)
    for kk in range(0, K, BK):
        r, c = tid >> 3, tid & 7
        sA[r, c] = A[y0 + r, kk + c] if y0 + r < M and kk + c < K else float32(0)
        r, c = tid >> 6, tid & 63
        sB[r, c] = B[kk + r, x0 + c] if kk + r < K and x0 + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for q in range(TM):
                s[q] += sA[y + q, k] * b
        cuda.syncthreads()
    for q in range(TM):
        if y0 + y + q < M and x0 + x < N:
            C[y0 + y + q, x0 + x] = s[q]
