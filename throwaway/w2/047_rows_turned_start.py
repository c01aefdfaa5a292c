# exercise: row_sums
# marked: right
from numba import cuda, float32


@cuda.jit
def row_sums(A, y):
    tile = cuda.shared.array((32, 32), float32)
    lane = cuda.threadIdx.x
    for r in range(31, -1, -1):
        tile[r, lane] = A[r, lane]
    cuda.syncwarp()
    total = float32(0)
    at = lane                       # every lane begins in another column
    for _ in range(32):
        total += tile[lane, at]
        at = (at + 1) & 31
    y[lane] = total
