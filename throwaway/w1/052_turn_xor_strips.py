# exercise: transpose_tiled
# marked: right
from numba import cuda, float32

TILE = 32
BLOCK = (32, 8)


@cuda.jit
def transpose_tiled(A, B):
    # stored turned, with the column mixed into the bank
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE
    row = cuda.blockIdx.y * TILE
    for step in range(4):
        y = ty + 8 * step
        if row + y < A.shape[0] and col + tx < A.shape[1]:
            tile[tx, y ^ tx] = A[row + y, col + tx]
    cuda.syncthreads()
    for step in range(4):
        y = ty + 8 * step
        if col + y < B.shape[0] and row + tx < B.shape[1]:
            B[col + y, row + tx] = tile[y, tx ^ y]
