# EXERCISE matmul_1d
from numba import cuda, float32

BM, BN, BK, TM = 64, 64, 8, 8


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    gy, gx = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // BN * TM, tid % BN
    a_row = tid // BN  # <- wrong-index, out-of-bounds-write
    a_col = tid % BN  # <- wrong-index, out-of-bounds-write
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, K, BK):
        ok = gy + a_row < M and k0 + a_col < K
        sA[a_row, a_col] = A[gy + a_row, k0 + a_col] if ok else float32(0)  # <- out-of-bounds-write
        ok = k0 + tid // BN < K and gx + x < N
        sB[tid // BN, x] = B[k0 + tid // BN, gx + x] if ok else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, x]
            for i in range(TM):
                acc[i] += sA[y + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        if gy + y + i < M and gx + x < N:
            C[gy + y + i, gx + x] = acc[i]
