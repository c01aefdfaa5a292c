# exercise: one_tile_product
# marked: wrong; cause: sB is another name for sA, so the tile of B overwrites that of A; code: race-write-after-write; lines: [7, 11]
from numba import cuda, float32


@cuda.jit
def one_tile_product(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = sA
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    sA[ty, tx] = A[row, tx] if row < A.shape[0] else float32(0)
    sB[ty, tx] = B[ty, column] if column < B.shape[1] else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += sA[ty, k] * sB[k, tx]
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total
