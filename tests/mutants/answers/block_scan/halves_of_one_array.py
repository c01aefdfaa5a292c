from numba import cuda, float32

RUN = 64
CELLS = 2 * RUN


@cuda.jit
def block_scan(x, y):
    cells = cuda.shared.array(CELLS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    here, there = 0, RUN
    cells[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        total = cells[here + t]
        if t >= stride:
            total += cells[here + t - stride]
        cells[there + t] = total
        cuda.syncthreads()
        here, there = there, here
        stride *= 2
    if i < y.size:
        y[i] = cells[RUN + t]  # <- wrong-index, stale-shared-read
