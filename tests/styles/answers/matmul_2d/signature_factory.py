# EXERCISE matmul_2d
from numba import cuda, float32


def build(bm, bn, bk, tm, tn):
    threads = (bm // tm) * (bn // tn)
    wide = bn // tn

    @cuda.jit("void(float32[:,:], float32[:,:], float32[:,:])")
    def kernel(A, B, C):
        sA = cuda.shared.array((bm, bk), float32)
        sB = cuda.shared.array((bk, bn), float32)
        acc = cuda.local.array((tm, tn), float32)
        p = cuda.local.array(tm, float32)
        q = cuda.local.array(tn, float32)
        t = cuda.threadIdx.x
        y, x = t // wide * tm, t % wide
        M, N = C.shape
        K = A.shape[1]
        top, left = cuda.blockIdx.y * bm, cuda.blockIdx.x * bn
        for i in range(tm):
            for j in range(tn):
                acc[i, j] = float32(0)
        for k0 in range(0, K, bk):
            for cell in range(t, bm * bk, threads):
                r, c = cell // bk, cell % bk
                sA[r, c] = A[top + r, k0 + c] if top + r < M and k0 + c < K else float32(0)
            for cell in range(t, bk * bn, threads):
                r, c = cell // bn, cell % bn
                sB[r, c] = B[k0 + r, left + c] if k0 + r < K and left + c < N else float32(0)
            cuda.syncthreads()
            for k in range(bk):
                for i in range(tm):
                    p[i] = sA[y + i, k]
                for j in range(tn):
                    q[j] = sB[k, x + wide * j]
                for i in range(tm):
                    for j in range(tn):
                        acc[i, j] += p[i] * q[j]
            cuda.syncthreads()
        for i in range(tm):
            for j in range(tn):
                if top + y + i < M and left + x + wide * j < N:
                    C[top + y + i, left + x + wide * j] = acc[i, j]

    return kernel


matmul_2d = build(64, 64, 8, 4, 4)
