# exercise: histogram
# marked: right
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = float32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = min(max(b, 0), 15)
        cuda.atomic.add(counts, b, float32(1))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, counts[t])
