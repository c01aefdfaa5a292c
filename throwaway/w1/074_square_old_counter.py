# exercise: matmul_2d
# marked: wrong; cause: The numbers of B are fetched with i, which keeps its last value from the loop before, instead of j; code: wrong-index; lines: [35]
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    grid_of_sums = cuda.local.array((TM, TN), float32)
    col_of_a = cuda.local.array(TM, float32)
    row_of_b = cuda.local.array(TN, float32)
    tid = cuda.threadIdx.x
    ty, tx = tid // 16, tid % 16
    y0, x0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    K = A.shape[1]
    for n in range(TM * TN):
        grid_of_sums[n // TN, n % TN] = float32(0)
    for k0 in range(0, K, BK):
        for n in range(tid, BM * BK, THREADS):
            i, k = n // BK, n % BK
            ok = y0 + i < A.shape[0] and k0 + k < K
            sA[i, k] = A[y0 + i, k0 + k] if ok else float32(0)
        for n in range(tid, BK * BN, THREADS):
            k, j = n // BN, n % BN
            ok = k0 + k < K and x0 + j < B.shape[1]
            sB[k, j] = B[k0 + k, x0 + j] if ok else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                col_of_a[i] = sA[ty * TM + i, k]
            for j in range(TN):
                row_of_b[j] = sB[k, tx * TN + i]
            for i in range(TM):
                for j in range(TN):
                    grid_of_sums[i, j] += col_of_a[i] * row_of_b[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            gy, gx = y0 + ty * TM + i, x0 + tx * TN + j
            if gy < C.shape[0] and gx < C.shape[1]:
                C[gy, gx] = grid_of_sums[i, j]
