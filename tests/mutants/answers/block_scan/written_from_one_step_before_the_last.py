from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    source = 0
    s[source, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        target = 1 - source
        if t >= stride:
            s[target, t] = s[source, t] + s[source, t - stride]
        else:
            s[target, t] = s[source, t]
        cuda.syncthreads()
        source = target
        stride *= 2
    if i < x.size:
        y[i] = s[1 - source, t]  # <- wrong-index, stale-shared-read
