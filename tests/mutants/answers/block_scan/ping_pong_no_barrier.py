# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    one = cuda.shared.array(RUN, float32)
    two = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    one[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    for p in range(3):
        d = 1 << (2 * p)
        two[t] = one[t] + (one[t - d] if t >= d else float32(0))  # <- race-read-after-write, race-write-after-read
        e = 2 * d
        one[t] = two[t] + (two[t - e] if t >= e else float32(0))  # <- race-read-after-write, race-write-after-read
        cuda.syncthreads()
    if i < x.size:
        y[i] = one[t]
