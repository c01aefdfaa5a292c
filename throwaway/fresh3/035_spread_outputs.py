# exercise: matmul_2d
# marked: right; style: outputs 16 apart in both directions, while loops, device function for the guarded load
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4


@cuda.jit(device=True)
def or_zero(M, r, c):
    if r < M.shape[0] and c < M.shape[1]:
        return M[r, c]
    return float32(0)


@cuda.jit
def matmul_2d(A, B, C):
    sa = cuda.shared.array((BM, BK), float32)
    sb = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    across = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    u, v = t % 16, t // 16
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = 0
    k0 = 0
    while k0 < A.shape[1]:
        cell = t
        while cell < 512:
            sa[cell // BK, cell % BK] = or_zero(A, top + cell // BK, k0 + cell % BK)
            sb[cell // BN, cell % BN] = or_zero(B, k0 + cell // BN, left + cell % BN)
            cell += 256
        cuda.syncthreads()
        for k in range(BK):
            for j in range(TN):
                across[j] = sb[k, u + 16 * j]
            for i in range(TM):
                one = sa[v + 16 * i, k]
                for j in range(TN):
                    acc[i, j] += one * across[j]
        cuda.syncthreads()
        k0 += BK
    for i in range(TM):
        row = top + v + 16 * i
        if row < C.shape[0]:
            for j in range(TN):
                col = left + u + 16 * j
                if col < C.shape[1]:
                    C[row, col] = acc[i, j]
