# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    src, dst = 0, 1
    s[src, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    d = 1
    while d < RUN:
        if t >= d:  # <- uninitialised-read, stale-shared-read, missing-mask, wrong-bounds-check
            s[dst, t] = s[src, t] + s[src, t - d]  # <- uninitialised-read, stale-shared-read
        cuda.syncthreads()
        src, dst = dst, src
        d *= 2
    if i < x.size:
        y[i] = s[src, t]  # <- uninitialised-read, stale-shared-read
