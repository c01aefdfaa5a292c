# exercise: convolve
# marked: wrong; cause: the test for the halo lacks the lower ends, so rows and columns -1 and -2 count from the end of A; code: wrong-bounds-check|wrong-index; lines: [14]
from numba import cuda, float32


@cuda.jit
def convolve(A, W, C):
    tile = cuda.shared.array((20, 20), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for n in range(16 * ty + tx, 400, 256):
        i = n // 20
        j = n - 20 * i
        r = row - ty + i - 2
        c = column - tx + j - 2
        if r < A.shape[0] and c < A.shape[1]:
            tile[i, j] = A[r, c]
        else:
            tile[i, j] = float32(0)
    cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for i in range(5):
            for j in range(5):
                total += W[i, j] * tile[ty + i, tx + j]
        C[row, column] = total
