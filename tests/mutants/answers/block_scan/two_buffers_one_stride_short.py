from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    tile = cuda.shared.array((2, RUN), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[0, t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    now = 0
    stride = 1
    while stride < RUN // 2:  # <- wrong-loop-bound
        later = 1 - now
        tile[later, t] = tile[now, t]
        if t >= stride:
            tile[later, t] += tile[now, t - stride]
        cuda.syncthreads()
        now = later
        stride *= 2
    if i < y.size:
        y[i] = tile[now, t]
