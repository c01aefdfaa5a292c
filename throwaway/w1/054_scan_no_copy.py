# exercise: block_scan
# marked: wrong; cause: Threads with nothing to add do not copy their sum into the other buffer; code: uninitialised-read|stale-shared-read; lines: [17, 18]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    both = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + t
    src = 0
    both[src, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    for e in range(6):
        d = 1 << e
        dst = 1 - src
        if t >= d:
            both[dst, t] = both[src, t] + both[src, t - d]
        cuda.syncthreads()
        src = dst
    if i < x.size:
        y[i] = both[src, t]
