from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    """Read, wait, add, wait: in place, with two barriers for each stride."""
    sums = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + t
    sums[t] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        before = sums[t - stride] if t >= stride else float32(0)
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        stride *= 2
    if i < x.shape[0] and x[i]:  # <- incomplete-output, wrong-bounds-check, wrong-formula
        y[i] = sums[t]  # <- incomplete-output
