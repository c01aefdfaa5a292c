# exercise: sum_of_three
# marked: wrong; cause: past the end of x no zero is put into the tile; code: uninitialised-read; lines: [9, 10]
from numba import cuda, float32


@cuda.jit
def sum_of_three(x, y):
    part = cuda.shared.array(130, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.shape[0]:
        part[t + 1] = x[i]
    if t == 0:
        part[0] = float32(0)
        if i > 0:
            part[0] = x[i - 1]
    if t == 127:
        part[129] = float32(0)
        if i < x.shape[0] - 1:
            part[129] = x[i + 1]
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t] + part[t + 1] + part[t + 2]
