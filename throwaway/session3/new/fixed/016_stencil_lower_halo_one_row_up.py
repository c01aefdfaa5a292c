# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    tile = cuda.shared.array((18, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    rows, cols = A.shape[0], A.shape[1]

    # centre
    if row < rows and col < cols:
        tile[ty + 1, tx + 1] = A[row, col]
    else:
        tile[ty + 1, tx + 1] = float32(0)
    # above
    if ty == 0:
        if row > 0 and row - 1 < rows and col < cols:
            tile[0, tx + 1] = A[row - 1, col]
        else:
            tile[0, tx + 1] = float32(0)
    # below
    if ty == 15:
        if row + 1 < rows and col < cols:
            tile[17, tx + 1] = A[row + 1, col]
        else:
            tile[17, tx + 1] = float32(0)
    # left
    if tx == 0:
        if col > 0 and col - 1 < cols and row < rows:
            tile[ty + 1, 0] = A[row, col - 1]
        else:
            tile[ty + 1, 0] = float32(0)
    # right
    if tx == 15:
        if col + 1 < cols and row < rows:
            tile[ty + 1, 17] = A[row, col + 1]
        else:
            tile[ty + 1, 17] = float32(0)
    cuda.syncthreads()

    if row < rows and col < cols:
        four = tile[ty, tx + 1] + tile[ty + 2, tx + 1] + tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        B[row, col] = tile[ty + 1, tx + 1] - float32(0.25) * four
