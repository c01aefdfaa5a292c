# exercise: matmul_tiled
# marked: wrong; cause: threads without an element of C return before the barriers, which they and their cells of the tiles are needed for; code: barrier-divergence|uninitialised-read; lines: [11, 12]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    lx, ly = cuda.threadIdx.x, cuda.threadIdx.y
    depth = A.shape[1]
    out = float32(0)
    for k0 in range(0, depth, TILE):
        a[ly, lx] = A[row, k0 + lx] if k0 + lx < depth else float32(0)
        b[ly, lx] = B[k0 + ly, col] if k0 + ly < depth else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            out += a[ly, k] * b[k, lx]
        cuda.syncthreads()
    C[row, col] = out
