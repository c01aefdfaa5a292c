# EXERCISE matmul_1d
from numba import cuda, float32


def make_kernel(bm, bn, bk, tm):
    @cuda.jit
    def kernel(A, B, C):
        sA = cuda.shared.array((bm, bk), float32)
        sB = cuda.shared.array((bk, bn), float32)
        sums = cuda.local.array(tm, float32)
        t = cuda.threadIdx.x
        M, N = C.shape
        K = A.shape[1]
        top, left = cuda.blockIdx.y * bm, cuda.blockIdx.x * bn
        y, x = t // bn * tm, t % bn
        for i in range(tm):
            sums[i] = float32(0)
        for k0 in range(0, K, bk):
            r, c = t // bk, t % bk
            sA[r, c] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
            r, c = t // bn, t % bn
            sB[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
            cuda.syncthreads()
            for k in range(bk):
                b = sB[k, x]
                for i in range(tm):
                    sums[i] += sA[y + i, k] * b
            cuda.syncthreads()
        for i in range(tm):
            if top + y + i < M and left + x < N:
                C[top + y + i, left + x] = sums[i]

    return kernel


matmul_1d = make_kernel(64, 64, 8, 8)
