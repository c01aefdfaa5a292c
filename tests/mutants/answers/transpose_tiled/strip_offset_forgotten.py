# EXERCISE transpose_tiled
from numba import cuda, float32

BLOCK = (32, 8)
ROWS = 8


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for s in range(0, 32, ROWS):
        if top + ty + s < A.shape[0] and left + tx < A.shape[1]:
            tile[ty + s, tx] = A[top + ty + s, left + tx]
    cuda.syncthreads()
    for s in range(0, 32, ROWS):
        if left + ty + s < B.shape[0] and top + tx < B.shape[1]:
            B[left + ty, top + tx] = tile[tx, ty + s]  # <- wrong-index
