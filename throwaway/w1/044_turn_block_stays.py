# exercise: transpose_tiled
# marked: wrong; cause: The tile is turned within itself, but it is stored at the block's old place, without the exchange of row and column of the tile; code: wrong-index|out-of-bounds-write|incomplete-output; lines: [17, 18, 20]
from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    cell = cuda.shared.array((TILE, PITCH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0 = cuda.blockIdx.x * cuda.blockDim.x
    y0 = cuda.blockIdx.y * cuda.blockDim.y
    if y0 + ty < A.shape[0]:
        if x0 + tx < A.shape[1]:
            cell[ty, tx] = A[y0 + ty, x0 + tx]
    cuda.syncthreads()
    r = y0 + ty
    c = x0 + tx
    if r < B.shape[0] and c < B.shape[1]:
        B[r, c] = cell[tx, ty]
