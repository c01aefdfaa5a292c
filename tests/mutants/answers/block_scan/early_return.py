from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + t
    n = x.shape[0]
    if i >= n:  # <- barrier-divergence
        return
    s[t] = x[i]
    cuda.syncthreads()  # <- barrier-divergence
    stride = 1
    while stride < RUN:
        before = float32(0)
        if t >= stride:
            before = s[t - stride]
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        stride *= 2
    if i < n:
        y[i] = s[t]
