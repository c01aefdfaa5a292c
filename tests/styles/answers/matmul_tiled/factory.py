# EXERCISE matmul_tiled
from numba import cuda, float32


def make(tile):
    @cuda.jit
    def k(A, B, C):
        a = cuda.shared.array((tile, tile), float32)
        b = cuda.shared.array((tile, tile), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        acc = float32(0)
        for k0 in range(0, A.shape[1], tile):
            if y < A.shape[0] and k0 + tx < A.shape[1]:
                a[ty, tx] = A[y, k0 + tx]
            else:
                a[ty, tx] = 0.0
            if k0 + ty < B.shape[0] and x < B.shape[1]:
                b[ty, tx] = B[k0 + ty, x]
            else:
                b[ty, tx] = 0.0
            cuda.syncthreads()
            for i in range(tile):
                acc += a[ty, i] * b[i, tx]
            cuda.syncthreads()
        if y < C.shape[0] and x < C.shape[1]:
            C[y, x] = acc

    return k


matmul_tiled = make(16)
