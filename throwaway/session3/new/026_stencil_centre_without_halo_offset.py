# exercise: stencil5
# marked: wrong; cause: The element itself is read at the thread's own indices, without the row and column by which the halo shifts the tile; code: wrong-index; lines: [24]
from numba import cuda, float32


@cuda.jit(device=True)
def fill(tile, A, first_row, first_column):
    for n in range(cuda.threadIdx.y * 16 + cuda.threadIdx.x, 18 * 18, 256):
        r, c = first_row + n // 18, first_column + n % 18
        if r < 0 or r >= A.shape[0] or c < 0 or c >= A.shape[1]:
            tile[n // 18, n % 18] = float32(0)
        else:
            tile[n // 18, n % 18] = A[r, c]


@cuda.jit
def stencil5(A, B):
    tile = cuda.shared.array((18, 18), float32)
    fill(tile, A, cuda.blockIdx.y * 16 - 1, cuda.blockIdx.x * 16 - 1)
    cuda.syncthreads()
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < B.shape[0] and column < B.shape[1]:
        neighbours = tile[ty, tx + 1] + tile[ty + 2, tx + 1]
        neighbours += tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        B[row, column] = tile[ty, tx] - neighbours * float32(0.25)
