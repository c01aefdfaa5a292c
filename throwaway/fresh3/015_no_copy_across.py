# exercise: block_scan
# marked: wrong; cause: a thread that has nothing to add in a round does not copy its sum into the other row, where an older number or none stands; code: stale-shared-read|uninitialised-read; lines: [18, 19]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    rows = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    pos = cuda.grid(1)
    n = x.shape[0]
    rows[0, t] = x[pos] if pos < n else float32(0)
    cuda.syncthreads()
    src = 0
    d = 1
    while d < RUN:
        dst = 1 - src
        if t >= d:
            rows[dst, t] = rows[src, t] + rows[src, t - d]
        cuda.syncthreads()
        src = dst
        d += d
    if pos < n:
        y[pos] = rows[src, t]
