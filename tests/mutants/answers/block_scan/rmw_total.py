from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    """Each thread adds its number to all sums behind it."""
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[t] = 0
    cuda.syncthreads()
    if i < x.size:
        for j in range(t, 64):
            sums[j] += x[i]  # <- race-read-after-write, race-write-after-write, race-write-after-read
    cuda.syncthreads()
    if i < x.size:
        y[i] = sums[t]
