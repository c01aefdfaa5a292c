# exercise: one_tile_product
# marked: wrong; cause: the tile of B is read at [tx, k], as if it had been stored turned; code: wrong-index; lines: [23]
from numba import cuda, float32


@cuda.jit(device=True)
def get(M, r, c):
    if r < M.shape[0] and c < M.shape[1]:
        return M[r, c]
    return float32(0)


@cuda.jit
def one_tile_product(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * 16 + ty
    column = cuda.blockIdx.x * 16 + tx
    sA[ty, tx] = get(A, row, tx)
    sB[ty, tx] = get(B, ty, column)
    cuda.syncthreads()
    acc = float32(0)
    for k in range(16):
        acc += sA[ty, k] * sB[tx, k]
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = acc
