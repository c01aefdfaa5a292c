from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own = x[i] if i < x.size else float32(0)
    s[t] = own
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        at = (t + 1) * 2 * stride - 1
        if at < RUN:
            s[at] += s[at - stride]  # <- bank-conflict (warning)
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        s[RUN - 1] = 0
    cuda.syncthreads()
    stride = RUN // 2
    while stride > 0:
        at = (t + 1) * 2 * stride - 1
        if at < RUN:
            left = s[at - stride]
            s[at - stride] = s[at]
            s[at] += left
        cuda.syncthreads()
        stride //= 2
    if i < x.size:
        y[i] = s[t] + own
