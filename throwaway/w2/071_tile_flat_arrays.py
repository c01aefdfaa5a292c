# exercise: one_tile_product
# marked: right
from numba import cuda, float32


@cuda.jit
def one_tile_product(A, B, C):
    sA = cuda.shared.array(256, float32)
    sB = cuda.shared.array(256, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n = 16 * ty + tx
    row, column = 16 * cuda.blockIdx.y + ty, 16 * cuda.blockIdx.x + tx
    has_row, has_column = row < C.shape[0], column < C.shape[1]
    sA[n] = 0
    sB[n] = 0
    if has_row:
        sA[n] = A[row, tx]
    if has_column:
        sB[n] = B[ty, column]
    cuda.syncthreads()
    if not (has_row and has_column):
        return
    p, q, total = 16 * ty, tx, float32(0)
    while q < 256:
        total += sA[p] * sB[q]
        p, q = p + 1, q + 16
    C[row, column] = total
