# exercise: histogram
# marked: wrong; cause: The bin number is cut off at 16 instead of 15, which is one past the last count; code: out-of-bounds-write|out-of-bounds-read|wrong-index|wrong-bounds-check; lines: [19, 20]
import math
from numba import cuda, float32

BINS = 16


@cuda.jit
def histogram(x, out):
    c = cuda.shared.array(BINS, float32)
    t = cuda.threadIdx.x
    if t < BINS:
        c[t] = float32(0)
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.shape[0]:
        b = int(math.floor(x[i] * float32(8))) + BINS // 2
        if b < 0:
            b = 0
        elif b > BINS:
            b = BINS
        cuda.atomic.add(c, b, float32(1))
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(out, t, c[t])
