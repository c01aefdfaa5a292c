# exercise: place_the_barriers
# marked: wrong; cause: the two buffers change only every second iteration because t // 2 stands where t % 2 is needed, so a buffer is overwritten while others read it; code: race-write-after-read|wrong-index; lines: [10, 11, 13]
from numba import cuda, float32


@cuda.jit
def place_the_barriers(x, y):
    both = cuda.shared.array((2, 64), float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        which = t // 2
        both[which, i] = x[64 * t + i]
        cuda.syncthreads()
        total += both[which, 63 - i]
    y[i] = total
