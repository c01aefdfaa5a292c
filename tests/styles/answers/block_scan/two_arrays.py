from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    """Two named arrays, with the strides written out in pairs."""
    a = cuda.shared.array(64, float32)
    b = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = x.shape[0]
    a[t] = 0
    if i < n:
        a[t] = x[i]
    cuda.syncthreads()
    stride = 1
    while stride <= 16:
        b[t] = a[t] + (a[t - stride] if t >= stride else float32(0))
        cuda.syncthreads()
        a[t] = b[t] + (b[t - 2 * stride] if t >= 2 * stride else float32(0))
        cuda.syncthreads()
        stride *= 4
    if i < n:
        y[i] = a[t]
