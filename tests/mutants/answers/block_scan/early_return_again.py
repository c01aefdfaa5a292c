# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= x.size:  # <- barrier-divergence
        return  # <- barrier-divergence
    s[t] = x[i]
    cuda.syncthreads()  # <- barrier-divergence
    for p in range(6):
        d = 1 << p
        v = s[t]
        if t >= d:
            v += s[t - d]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
    y[i] = s[t]
