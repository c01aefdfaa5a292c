# exercise: block_scan
# marked: wrong; cause: the barriers stand inside the if, which the threads without a left neighbour never enter; code: barrier-divergence; lines: [19, 21]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    acc = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    g = cuda.grid(1)
    acc[t] = 0
    if g < x.size:
        acc[t] = x[g]
    cuda.syncthreads()
    far = 1
    while far < RUN:
        if t >= far:
            got = acc[t - far]
            cuda.syncthreads()
            acc[t] = acc[t] + got
            cuda.syncthreads()
        far = far * 2
    if g < x.size:
        y[g] = acc[t]
