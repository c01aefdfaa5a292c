# exercise: transpose_tiled
# marked: wrong; cause: The rows of the tile are 32 words long, so all cells of a column lie in one bank; code: bank-conflict; lines: [8, 20]
from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    s = cuda.shared.array((TILE, TILE), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    M = A.shape[0]
    N = A.shape[1]
    left = TILE * cuda.blockIdx.x
    top = TILE * cuda.blockIdx.y
    value = float32(0)
    if top + i < M and left + j < N:
        value = A[top + i, left + j]
    s[i, j] = value
    cuda.syncthreads()
    if left + i < N and top + j < M:
        B[left + i, top + j] = s[j, i]
