# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    tile = cuda.shared.array((18, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    height, width = A.shape
    for i in range(ty, 18, 16):
        r = row - ty + i - 1
        for j in range(tx, 18, 16):
            c = column - tx + j - 1
            if 0 <= r and r < height and 0 <= c and c < width:
                tile[i, j] = A[r, c]
            else:
                tile[i, j] = float32(0)
    cuda.syncthreads()
    if not (row >= height or column >= width):
        up = tile[ty, tx + 1]
        down = tile[ty + 2, tx + 1]
        left = tile[ty + 1, tx]
        right = tile[ty + 1, tx + 2]
        B[row, column] = tile[ty + 1, tx + 1] - (up + down + left + right) * float32(0.25)
