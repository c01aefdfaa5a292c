# exercise: matmul_2d
# marked: wrong; cause: The test for the columns at the store looks at the first column of the thread, not at each of them; code: wrong-bounds-check|out-of-bounds-write; lines: [46, 48]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit(device=True)
def fill(tile, width, X, r0, c0, me):
    for cell in range(me, 512, THREADS):
        i = cell // width
        j = cell % width
        if r0 + i < X.shape[0] and c0 + j < X.shape[1]:
            tile[i, j] = X[r0 + i, c0 + j]
        else:
            tile[i, j] = float32(0)


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    s = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    me = cuda.threadIdx.x
    row = me // 16 * TM
    col = me % 16 * TN
    for i in range(TM):
        for j in range(TN):
            s[i, j] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        fill(sA, BK, A, cuda.blockIdx.y * BM, k0, me)
        fill(sB, BN, B, k0, cuda.blockIdx.x * BN, me)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[row + i, k]
            for j in range(TN):
                b = sB[k, col + j]
                for i in range(TM):
                    s[i, j] += a[i] * b
        cuda.syncthreads()
    row += cuda.blockIdx.y * BM
    col += cuda.blockIdx.x * BN
    for i in range(TM):
        if row + i < C.shape[0] and col < C.shape[1]:
            for j in range(TN):
                C[row + i, col + j] = s[i, j]
