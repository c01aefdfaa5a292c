# exercise: segmented_max
# marked: right
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
        if t >= step:
            other = max(best[t], best[t - step])
        cuda.syncthreads()
        best[t] = other
        cuda.syncthreads()
        step *= 2
    if i < y.shape[0]:
        y[i] = best[t]
