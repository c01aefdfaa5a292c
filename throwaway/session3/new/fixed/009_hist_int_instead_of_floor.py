# exercise: histogram
# marked: right
import math
from numba import cuda, float32, int32


@cuda.jit
def histogram(x, out):
    hist = cuda.shared.array(16, int32)
    tid = cuda.threadIdx.x
    if tid < 16:
        hist[tid] = 0
    cuda.syncthreads()
    for idx in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        val = x[idx] * float32(8)
        slot = int(math.floor(val)) + 8
        slot = max(0, min(15, slot))
        cuda.atomic.add(hist, slot, 1)
    cuda.syncthreads()
    if tid < 16:
        cuda.atomic.add(out, tid, float32(hist[tid]))
