# exercise: histogram
# marked: wrong; cause: The helper multiplies by the literal 8.0, which makes the product a float64; code: float64-arithmetic; lines: [7]
import math
from numba import cuda, float32


@cuda.jit(device=True)
def bin_of(v):
    b = int(math.floor(8.0 * v)) + 8
    return min(max(b, 0), 15)


@cuda.jit
def histogram(x, out):
    part = cuda.shared.array(16, float32)
    j = cuda.threadIdx.x
    if j < 16:
        part[j] = float32(0)
    cuda.syncthreads()
    n = x.shape[0]
    p = cuda.grid(1)
    while p < n:
        cuda.atomic.add(part, bin_of(x[p]), float32(1))
        p += cuda.gridsize(1)
    cuda.syncthreads()
    if j < 16:
        cuda.atomic.add(out, j, part[j])
