# exercise: fetch_and_add
# marked: wrong; cause: adding runs one step behind fetching, but the loop has no extra step for the last row; code: wrong-loop-bound; lines: [10]
from numba import cuda, float32


@cuda.jit
def fetch_and_add(x, y):
    two = cuda.shared.array((2, 32), float32)
    lane = cuda.threadIdx.x & 31
    total = float32(0)
    s = 0
    while s < x.shape[0]:
        if cuda.threadIdx.x < 32:
            two[s & 1, lane] = x[s, lane]
        elif s >= 1:
            total += two[(s - 1) & 1, lane]
        cuda.syncthreads()
        s += 1
    if cuda.threadIdx.x >= 32:
        y[lane] = total
