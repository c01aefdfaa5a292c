# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    s = cuda.shared.array((TILE, TILE), float32)
    t = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k0 in range(0, A.shape[1], TILE):
        if tx == 0:
            s[ty, :] = 0
            t[ty, :] = 0
        cuda.syncthreads()
        if y < A.shape[0] and k0 + tx < A.shape[1]:
            s[ty, tx] = A[y, k0 + tx]
        if k0 + ty < B.shape[0] and x < B.shape[1]:
            t[ty, tx] = B[k0 + ty, x]
        cuda.syncthreads()
        for i in range(TILE):
            acc += s[ty, i] * t[i, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = acc
