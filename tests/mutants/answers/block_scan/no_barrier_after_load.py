# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)  # <- race-read-after-write
    d = 1
    while d < RUN:
        before = s[t - d] if t >= d else float32(0)  # <- race-read-after-write
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        d *= 2
    if i < x.size:
        y[i] = s[t]
