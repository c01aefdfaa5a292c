from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    buffers = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    buffers[0, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    full = 0
    for step in range(6):
        now = full
        full = 1 - now
        stride = 1 << step
        own = buffers[now, t]
        if t >= stride:
            own += buffers[now, t - stride]
        buffers[full, t] = own
        cuda.syncthreads()
    total = buffers[now, t]  # <- wrong-index, stale-shared-read
    if i < y.size:
        y[i] = total
