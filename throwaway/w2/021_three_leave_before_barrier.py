# exercise: sum_of_three
# marked: wrong; cause: threads past the end return before they have put their zero into the tile and before the barrier; code: barrier-divergence|uninitialised-read; lines: [9, 10]
from numba import cuda, float32


@cuda.jit
def sum_of_three(x, y):
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    n = x.shape[0]
    if i >= n:
        return
    part[t + 1] = x[i]
    if t == 0:
        part[0] = x[i - 1] if i > 0 else float32(0)
    if t == 127:
        part[129] = x[i + 1] if i + 1 < n else float32(0)
    cuda.syncthreads()
    y[i] = part[t] + part[t + 1] + part[t + 2]
