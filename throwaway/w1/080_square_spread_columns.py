# exercise: matmul_2d
# marked: right
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit(device=True)
def bring(tile, width, X, r0, c0):
    cell = cuda.threadIdx.x
    while cell < 512:
        i = cell // width
        j = cell - i * width
        tile[i, j] = float32(0)
        if r0 + i < X.shape[0] and c0 + j < X.shape[1]:
            tile[i, j] = X[r0 + i, c0 + j]
        cell += THREADS


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    s = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    row, col = cuda.threadIdx.x // 16, cuda.threadIdx.x % 16
    for i in range(TM):
        for j in range(TN):
            s[i, j] = float32(0)
    k0 = 0
    while k0 < A.shape[1]:
        bring(sA, BK, A, cuda.blockIdx.y * BM, k0)
        bring(sB, BN, B, k0, cuda.blockIdx.x * BN)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[row + 16 * i, k]
            for j in range(TN):
                b = sB[k, col + 16 * j]
                for i in range(TM):
                    s[i, j] += a[i] * b
        cuda.syncthreads()
        k0 += BK
    for i in range(TM):
        for j in range(TN):
            r = cuda.blockIdx.y * BM + row + 16 * i
            c = cuda.blockIdx.x * BN + col + 16 * j
            if r < C.shape[0] and c < C.shape[1]:
                C[r, c] = s[i, j]
