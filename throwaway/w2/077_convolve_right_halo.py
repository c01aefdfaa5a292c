# exercise: convolve
# marked: wrong; cause: the inner fill loop ends at 16, so the four columns of the halo on the right are never filled; code: wrong-loop-bound|uninitialised-read; lines: [10]
from numba import cuda, float32


@cuda.jit
def convolve(A, W, C):
    tile = cuda.shared.array((20, 20), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 16 * cuda.blockIdx.y - 2, 16 * cuda.blockIdx.x - 2
    for i in range(ty, 20, 16):
        for j in range(tx, 16, 16):
            r, c = top + i, left + j
            if r >= 0 and r < A.shape[0] and c >= 0 and c < A.shape[1]:
                tile[i, j] = A[r, c]
            else:
                tile[i, j] = 0
    cuda.syncthreads()
    row, column = top + 2 + ty, left + 2 + tx
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for i in range(5):
            for j in range(5):
                total += W[i, j] * tile[ty + i, tx + j]
        C[row, column] = total
