from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    """A loop that all threads leave together."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    stride = 1
    while True:
        cuda.syncthreads()
        mine = s[t]
        if t >= stride:
            mine = s[t - stride] + mine
        cuda.syncthreads()
        s[t] = mine
        stride = stride * 2
        if stride == 64:
            break
    if i < x.size:
        y[i] = s[t]
