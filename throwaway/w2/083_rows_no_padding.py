# exercise: row_sums
# marked: wrong; cause: the rows of the tile are 32 words long, so all lanes ask the same bank when each goes along its own row; code: bank-conflict; lines: [6, 15]
from numba import cuda, float32


@cuda.jit
def row_sums(A, y):
    tile = cuda.shared.array((32, 32), float32)
    me = cuda.threadIdx.x
    r = 0
    while r < 32:
        tile[r, me] = A[r, me]
        r += 1
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        total += tile[me, k]
    y[me] = total
