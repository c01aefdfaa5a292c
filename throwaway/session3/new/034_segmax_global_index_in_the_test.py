# exercise: segmented_max
# marked: wrong; cause: Whether there is a number so far to the left is asked of the index in x instead of the one in the segment, so later segments read before the shared array; code: out-of-bounds-read|wrong-bounds-check|wrong-index|wrong-result; lines: [15, 16]
import math
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    best = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    best[t] = x[i] if i < x.shape[0] else float32(-math.inf)
    cuda.syncthreads()
    step = 1
    while step < 64:
        other = best[t]
        if i >= step:
            other = max(other, best[t - step])
        cuda.syncthreads()
        best[t] = other
        cuda.syncthreads()
        step *= 2
    if i < y.shape[0]:
        y[i] = best[t]
