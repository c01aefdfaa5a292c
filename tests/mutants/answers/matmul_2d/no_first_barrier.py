# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256


@cuda.jit
def matmul_2d(A, B, C):
    fa = cuda.shared.array(512, float32)
    fb = cuda.shared.array(512, float32)
    sums = cuda.local.array(16, float32)
    a = cuda.local.array(TM, float32)
    tid = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, N = C.shape
    K = A.shape[1]
    y, x = tid // 16, tid % 16
    for i in range(16):
        sums[i] = float32(0)
    for start in range(0, K, BK):
        cell = tid
        while cell < 512:
            r, c = cell // BK, cell % BK
            fa[cell] = A[top + r, start + c] if top + r < M and start + c < K else float32(0)  # <- race-read-after-write
            r, c = cell // BN, cell % BN
            fb[cell] = B[start + r, left + c] if start + r < K and left + c < N else float32(0)  # <- race-read-after-write
            cell += THREADS
        for k in range(BK):
            for i in range(TM):
                a[i] = fa[(y + 16 * i) * BK + k]  # <- race-read-after-write
            for j in range(TN):
                b = fb[k * BN + x + 16 * j]  # <- race-read-after-write
                for i in range(TM):
                    sums[i * TN + j] += a[i] * b
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            if top + y + 16 * i < M and left + x + 16 * j < N:
                C[top + y + 16 * i, left + x + 16 * j] = sums[i * TN + j]
