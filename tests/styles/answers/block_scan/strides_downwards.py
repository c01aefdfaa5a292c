from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    """The strides may come in any order."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    for stride in (32, 16, 8, 4, 2, 1):
        cuda.syncthreads()
        before = float32(0)
        if t >= stride:
            before = s[t - stride]
        cuda.syncthreads()
        s[t] += before
    if i < x.size:
        y[i] = s[t]
