# exercise: transpose_tiled
# marked: wrong; cause: The tile is filled with rotated rows, but read without the rotation; code: wrong-index|bank-conflict; lines: [21]
from numba import cuda, float32

TILE = 32


@cuda.jit(device=True)
def slot(row, col):
    # every row starts at another bank
    return (row + col) % 32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if by + ty < A.shape[0] and bx + tx < A.shape[1]:
        tile[ty, slot(ty, tx)] = A[by + ty, bx + tx]
    cuda.syncthreads()
    if bx + ty < B.shape[0] and by + tx < B.shape[1]:
        B[bx + ty, by + tx] = tile[tx, ty]
