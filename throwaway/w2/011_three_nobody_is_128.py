# exercise: sum_of_three
# marked: wrong; cause: the right-hand halo waits for a thread with number 128, which no block has; code: uninitialised-read|wrong-bounds-check|wrong-index; lines: [18]
from numba import cuda, float32


@cuda.jit(device=True)
def number_or_zero(x, i):
    if i < 0 or i >= x.shape[0]:
        return float32(0)
    return x[i]


@cuda.jit
def sum_of_three(x, y):
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t + 1] = number_or_zero(x, i)
    if t == 0:
        part[0] = number_or_zero(x, i - 1)
    if t == cuda.blockDim.x:
        part[t + 2] = number_or_zero(x, i + 1)
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t] + part[t + 1] + part[t + 2]
