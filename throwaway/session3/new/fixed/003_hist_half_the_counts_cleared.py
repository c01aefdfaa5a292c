# exercise: histogram
# marked: right
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    h = cuda.shared.array(16, float32)
    me = cuda.threadIdx.x
    if me < 16:
        h[me] = float32(0)
    cuda.syncthreads()

    i = cuda.grid(1)
    step = cuda.gridsize(1)
    n = x.shape[0]
    while i < n:
        v = x[i] * float32(8)
        b = int(math.floor(v)) + 8
        b = max(0, min(b, 15))
        cuda.atomic.add(h, b, float32(1))
        i += step

    cuda.syncthreads()
    if me < 16:
        cuda.atomic.add(out, me, h[me])
