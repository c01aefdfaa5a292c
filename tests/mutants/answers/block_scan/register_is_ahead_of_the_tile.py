from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    tile = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < x.size else float32(0)
    stride = 1
    while stride < RUN:
        tile[t] = total
        cuda.syncthreads()
        if t >= stride:
            total += tile[t - stride]
        cuda.syncthreads()
        stride *= 2
    if i < y.size:
        y[i] = tile[t]  # <- wrong-index, stale-shared-read, accumulator-error
