# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit(device=True)
def element(A, r, c):
    if r >= 0 and c >= 0 and r < A.shape[0] and c < A.shape[1]:
        return A[r, c]
    return float32(0)


@cuda.jit
def stencil5(A, B):
    tile = cuda.shared.array((18, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top = cuda.blockIdx.y * 16 - 1
    left = cuda.blockIdx.x * 16 - 1
    for i in range(ty, 18, 16):
        for j in range(tx, 18, 16):
            tile[i, j] = element(A, top + i, left + j)
    cuda.syncthreads()
    column, row = cuda.grid(2)
    if row < B.shape[0] and column < B.shape[1]:
        around = tile[ty, tx + 1] + tile[ty + 2, tx + 1] + tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        B[row, column] = tile[ty + 1, tx + 1] - around * float32(0.25)
