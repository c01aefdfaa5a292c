# exercise: block_scan
# marked: wrong; cause: Threads past the end of x leave before the barriers that the rest of the block reaches; code: barrier-divergence; lines: [11, 12]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    sums = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    n = cuda.grid(1)
    if n >= x.size:
        return
    sums[t] = x[n]
    cuda.syncthreads()
    step = 1
    while step < RUN:
        add = sums[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        sums[t] += add
        cuda.syncthreads()
        step <<= 1
    y[n] = sums[t]
