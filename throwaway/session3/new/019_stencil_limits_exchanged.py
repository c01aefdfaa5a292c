# exercise: stencil5
# marked: wrong; cause: The row is compared with the number of columns and the column with the number of rows when the tile is loaded; code: wrong-bounds-check|out-of-bounds-read|wrong-index; lines: [11]
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    tile = cuda.shared.array((18, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for n in range(16 * ty + tx, 324, 256):
        r, c = row - ty + n // 18 - 1, column - tx + n % 18 - 1
        inside = 0 <= r < A.shape[1] and 0 <= c < A.shape[0]
        tile[n // 18, n % 18] = A[r, c] if inside else float32(0)
    cuda.syncthreads()
    if row < B.shape[0] and column < B.shape[1]:
        around = tile[ty, tx + 1] + tile[ty + 2, tx + 1] + tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        B[row, column] = tile[ty + 1, tx + 1] - around * float32(0.25)
