# exercise: matmul_2d
# marked: wrong; cause: each thread brings one cell of the tile of B where it should bring two, so that the tile's lower half is never written; code: uninitialised-read|wrong-loop-bound; lines: [27, 28]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit
def matmul_2d(A, B, C):
    sa = cuda.shared.array((BM, BK), float32)
    sb = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    fa = cuda.local.array(TM, float32)
    fb = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    y0 = t // 16 * TM
    x0 = t % 16 * TN
    M, N = C.shape
    K = A.shape[1]
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = 0
    for k0 in range(0, K, BK):
        for cell in range(t, BM * BK, 256):
            r, c = cell // BK, cell % BK
            sa[r, c] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
        r, c = t // BN, t % BN
        sb[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                fa[i] = sa[y0 + i, k]
            for j in range(TN):
                fb[j] = sb[k, x0 + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += fa[i] * fb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if top + y0 + i < M and left + x0 + j < N:
                C[top + y0 + i, left + x0 + j] = acc[i, j]
