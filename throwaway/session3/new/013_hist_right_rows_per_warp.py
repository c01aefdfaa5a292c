# exercise: histogram
# marked: right
import math
from numba import cuda, float32, int32

WARPS, BINS = 2, 16
CELLS = WARPS * BINS


@cuda.jit
def histogram(x, out):
    """Integer counts, one row a warp, in one flat array."""
    flat = cuda.shared.array(CELLS, int32)
    tid = cuda.threadIdx.x
    for k in range(tid, CELLS, cuda.blockDim.x):
        flat[k] = 0
    cuda.syncthreads()

    mine = tid // 32 * BINS
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    while True:
        if i >= x.shape[0]:
            break
        b = int(math.floor(x[i] * float32(8)))
        if b < -8:
            b = -8
        elif b >= 8:
            b = 7
        cuda.atomic.add(flat, mine + b + 8, 1)
        i += cuda.blockDim.x * cuda.gridDim.x
    cuda.syncthreads()

    if tid >= BINS:
        return
    total = 0
    for w in range(WARPS):
        total += flat[w * BINS + tid]
    if total > 0:
        cuda.atomic.add(out, tid, float32(total))
