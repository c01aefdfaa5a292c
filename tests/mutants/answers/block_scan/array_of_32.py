# EXERCISE block_scan
from numba import cuda, float32

WARP = 32
RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(WARP, float32)  # <- out-of-bounds-write
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)  # <- out-of-bounds-write
    cuda.syncthreads()
    d = 1
    while d < RUN:
        before = s[t - d] if t >= d else float32(0)
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        d *= 2
    if i < x.size:
        y[i] = s[t]
