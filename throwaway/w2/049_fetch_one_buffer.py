# exercise: fetch_and_add
# marked: wrong; cause: there is one buffer and one barrier per row, so the fetching warp overwrites a row while the other still adds it; code: race-write-after-read; lines: [13, 16]
from numba import cuda, float32


@cuda.jit
def fetch_and_add(x, y):
    row = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    fetches = t < 32
    total = float32(0)
    for s in range(x.shape[0]):
        if fetches:
            row[lane] = x[s, lane]
        cuda.syncthreads()
        if not fetches:
            total += row[lane]
    if not fetches:
        y[lane] = total
