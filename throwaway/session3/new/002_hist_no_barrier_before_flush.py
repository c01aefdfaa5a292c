# exercise: histogram
# marked: wrong; cause: There is no barrier between the counting and the threads that hand the block's counts on; code: race-read-after-write|race-write-after-read; lines: [17, 19]
import math
from numba import cuda, float32

N_BINS = 16


@cuda.jit
def histogram(x, out):
    local = cuda.shared.array(N_BINS, float32)
    lane = cuda.threadIdx.x
    for b in range(lane, N_BINS, cuda.blockDim.x):
        local[b] = 0
    cuda.syncthreads()
    first = cuda.blockIdx.x * cuda.blockDim.x + lane
    for i in range(first, len(x), cuda.gridDim.x * cuda.blockDim.x):
        b = int(math.floor(float32(8) * x[i])) + 8
        cuda.atomic.add(local, min(15, max(0, b)), float32(1))
    for b in range(lane, N_BINS, cuda.blockDim.x):
        cuda.atomic.add(out, b, local[b])
