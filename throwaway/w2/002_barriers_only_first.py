# exercise: place_the_barriers
# marked: wrong; cause: nothing keeps a thread from overwriting the buffer in the next iteration while others still read it; code: race-write-after-read; lines: [10, 12]
from numba import cuda, float32


@cuda.jit
def place_the_barriers(x, y):
    buffer = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        buffer[i] = x[64 * t + i]
        cuda.syncthreads()
        total += buffer[63 - i]
    y[i] = total
