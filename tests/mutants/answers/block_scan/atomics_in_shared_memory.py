from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[t] = 0
    cuda.syncthreads()
    if i < x.size:
        own = x[i]
        for k in range(t, 64):
            cuda.atomic.add(sums, k, own)  # <- serial-work (warning)
    cuda.syncthreads()
    if i < x.size:
        y[i] = sums[t]
