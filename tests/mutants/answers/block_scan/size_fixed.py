from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + t
    n = 256
    if i < n:  # <- wrong-bounds-check
        s[t] = x[i]  # <- out-of-bounds-read
    else:
        s[t] = 0
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        before = float32(0)
        if t >= stride:
            before = s[t - stride]
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        stride *= 2
    if i < n:  # <- wrong-bounds-check
        y[i] = s[t]  # <- out-of-bounds-write
