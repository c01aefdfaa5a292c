# exercise: matmul_1d
# marked: wrong; cause: the sums are set to zero inside the loop over the tiles, so that only the last tile is left; code: accumulator-error; lines: [19, 20]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8


@cuda.jit
def matmul_1d(A, B, C):
    ta = cuda.shared.array((BM, BK), float32)
    tb = cuda.shared.array((BK, BN), float32)
    part = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    M, N = C.shape
    K = A.shape[1]
    top, left = BM * cuda.blockIdx.y, BN * cuda.blockIdx.x
    mine = tid % BN
    first = tid // BN * TM
    for k0 in range(0, K, BK):
        for i in range(TM):
            part[i] = 0
        ra, ca = tid // BK, tid % BK
        rb, cb = tid // BN, tid % BN
        ta[ra, ca] = A[top + ra, k0 + ca] if top + ra < M and k0 + ca < K else float32(0)
        tb[rb, cb] = B[k0 + rb, left + cb] if k0 + rb < K and left + cb < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = tb[k, mine]
            for i in range(TM):
                part[i] += ta[first + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        if top + first + i < M and left + mine < N:
            C[top + first + i, left + mine] = part[i]
