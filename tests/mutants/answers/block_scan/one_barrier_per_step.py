# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    for d in (1, 2, 4, 8, 16, 32):
        before = float32(0)
        if t >= d:
            before = s[t - d]  # <- race-read-after-write
        cuda.syncthreads()
        s[t] = s[t] + before  # <- race-read-after-write
    if i < x.size:
        y[i] = s[t]
