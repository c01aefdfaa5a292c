from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + t
    n = x.shape[0]
    if i < n:
        s[t] = x[i]
    else:
        s[t] = 0
    cuda.syncthreads()
    stride = 2
    while stride < RUN:  # <- wrong-loop-bound
        before = float32(0)
        if t >= stride:
            before = s[t - stride]
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        stride *= stride  # <- wrong-loop-bound
    if i < n:
        y[i] = s[t]
