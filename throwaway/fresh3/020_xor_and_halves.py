# exercise: row_sums
# marked: right; style: an XOR swizzle on both sides, two half sums, rows filled from the last one on
from numba import cuda, float32


@cuda.jit
def row_sums(A, y):
    cells = cuda.shared.array((32, 32), float32)
    lane = cuda.threadIdx.x
    for back in range(32):
        r = 31 - back
        cells[r, lane ^ r] = A[r, lane]
    cuda.syncthreads()
    low = high = float32(0)
    for k in range(16):
        low += cells[lane, k ^ lane]
        high += cells[lane, (k + 16) ^ lane]
    y[lane] = low + high
