# exercise: convolve
# marked: wrong; cause: the weights are taken from the far end, which the formula does not ask for; code: wrong-index|wrong-formula; lines: [26]
from numba import cuda, float32


@cuda.jit(device=True)
def at(A, r, c):
    if r < 0 or c < 0:
        return float32(0)
    if r >= A.shape[0] or c >= A.shape[1]:
        return float32(0)
    return A[r, c]


@cuda.jit
def convolve(A, W, C):
    tile = cuda.shared.array((20, 20), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for i in range(ty, 20, 16):
        for j in range(tx, 20, 16):
            tile[i, j] = at(A, row - ty + i - 2, column - tx + j - 2)
    cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        acc = float32(0)
        for i in range(5):
            for j in range(5):
                acc += W[4 - i, 4 - j] * tile[ty + i, tx + j]
        C[row, column] = acc
