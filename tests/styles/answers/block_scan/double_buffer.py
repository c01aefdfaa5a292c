from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    """Two arrays that change places: one barrier for each stride."""
    both = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    old, new = 0, 1
    both[old, t] = x[i] if i < len(x) else float32(0)
    cuda.syncthreads()
    for k in range(6):
        stride = 1 << k
        if t >= stride:
            both[new, t] = both[old, t] + both[old, t - stride]
        else:
            both[new, t] = both[old, t]
        cuda.syncthreads()
        old, new = new, old
    if i < len(x):
        y[i] = both[old, t]
