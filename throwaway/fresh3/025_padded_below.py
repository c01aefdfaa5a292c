# exercise: transpose_tiled
# marked: wrong; cause: the padding is a row more, not a column more, so that a column of the tile still lies in one bank; code: bank-conflict; lines: [10, 23]
from numba import cuda, float32

TILE = 32
MORE = 33
BLOCK = (32, 8)


@cuda.jit
def transpose_tiled(A, B):
    s = cuda.shared.array((MORE, TILE), float32)
    x = cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    y = cuda.threadIdx.y
    while y < TILE:
        if top + y < A.shape[0] and left + x < A.shape[1]:
            s[y, x] = A[top + y, left + x]
        y += 8
    cuda.syncthreads()
    y = cuda.threadIdx.y
    while y < TILE:
        if left + y < B.shape[0] and top + x < B.shape[1]:
            B[left + y, top + x] = s[x, y]
        y += 8
