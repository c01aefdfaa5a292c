# EXERCISE transpose_tiled
from numba import cuda, float32

TILE = 32
PITCH = TILE + 1
CELLS = TILE * PITCH
BLOCK = 8


@cuda.jit
def transpose_tiled(A, B):
    s = cuda.shared.array(CELLS, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        s[ty * PITCH + tx] = A[row, col]
    cuda.syncthreads()
    row = cuda.blockIdx.x * TILE + ty
    col = cuda.blockIdx.y * TILE + tx
    if row < B.shape[0] and col < B.shape[1]:
        B[row, col] = s[tx * PITCH + ty]
