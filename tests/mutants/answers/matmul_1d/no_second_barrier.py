# EXERCISE matmul_1d
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8


@cuda.jit(device=True)
def fetch(X, r, c):
    if r < X.shape[0] and c < X.shape[1]:
        return X[r, c]
    return float32(0)


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    gy, gx = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    y, x = tid // BN * TM, tid % BN
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        sA[tid // BK, tid % BK] = fetch(A, gy + tid // BK, k0 + tid % BK)  # <- race-write-after-read
        sB[tid // BN, x] = fetch(B, k0 + tid // BN, gx + x)  # <- race-write-after-read
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]  # <- race-write-after-read
            for i in range(TM):
                acc[i] += sA[y + i, k] * b  # <- race-write-after-read
    for i in range(TM):
        if gy + y + i < C.shape[0] and gx + x < C.shape[1]:
            C[gy + y + i, gx + x] = acc[i]
