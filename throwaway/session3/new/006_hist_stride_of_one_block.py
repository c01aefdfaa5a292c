# exercise: histogram
# marked: wrong; cause: The loop steps by the threads of one block instead of those of the grid, so numbers are counted by several blocks; code: wrong-loop-bound|wrong-index|wrong-result|wrong-formula; lines: [21]
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    bins = cuda.shared.array(16, float32)
    thread = cuda.threadIdx.x
    threads = cuda.blockDim.x

    if thread < 16:
        bins[thread] = float32(0.0)
    cuda.syncthreads()

    place = cuda.blockIdx.x * threads + thread
    while place < x.shape[0]:
        scaled = math.floor(x[place] * float32(8.0))
        number = int(scaled) + 8
        number = min(max(number, 0), 15)
        cuda.atomic.add(bins, number, float32(1.0))
        place = place + threads
    cuda.syncthreads()

    if thread < 16:
        cuda.atomic.add(out, thread, bins[thread])
