# EXERCISE transpose_tiled
from numba import cuda, float32

BLOCK = (32, 8)
SIDE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    buf = cuda.shared.array((SIDE, PITCH), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x0 = cuda.blockIdx.x * SIDE
    y0 = cuda.blockIdx.y * SIDE
    for r in range(ty, SIDE, 8):
        if y0 + r < min(A.shape[0], 200) and x0 + tx < A.shape[1]:  # <- wrong-bounds-check
            buf[r, tx] = A[y0 + r, x0 + tx]
    cuda.syncthreads()
    for r in range(ty, SIDE, 8):
        if x0 + r < B.shape[0] and y0 + tx < B.shape[1]:
            B[x0 + r, y0 + tx] = buf[tx, r]
