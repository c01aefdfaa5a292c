# exercise: block_scan
# marked: wrong; cause: A thread reads its neighbour's cell and writes its own with no barrier in between; code: race-write-after-read|race-read-after-write; lines: [18]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = float32(0)
    if i < x.shape[0]:
        s[t] = x[i]
    cuda.syncthreads()
    d = 1
    while d < RUN:
        if t >= d:
            s[t] += s[t - d]
        cuda.syncthreads()
        d += d
    if i < y.shape[0]:
        y[i] = s[t]
