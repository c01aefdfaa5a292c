# exercise: matmul_tiled
# marked: right; style: two buffers that take turns, so that one barrier a tile is enough
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    pa = cuda.shared.array((2, TILE, TILE), float32)
    pb = cuda.shared.array((2, TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    K = B.shape[0]
    acc = float32(0)
    w = 0
    for k0 in range(0, K, TILE):
        pa[w, y, x] = A[row, k0 + x] if row < A.shape[0] and k0 + x < K else float32(0)
        pb[w, y, x] = B[k0 + y, col] if col < B.shape[1] and k0 + y < K else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += pa[w, y, k] * pb[w, k, x]
        w = 1 - w
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
