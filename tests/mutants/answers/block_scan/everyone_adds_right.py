# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = float32(0)
    cuda.syncthreads()
    mine = x[i] if i < x.size else float32(0)
    for j in range(t, RUN):
        s[j] += mine  # <- race-write-after-write, race-read-after-write, race-write-after-read
    cuda.syncthreads()
    if i < y.size:
        y[i] = s[t]
