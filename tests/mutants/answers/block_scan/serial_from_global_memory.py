from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    if cuda.threadIdx.x == 0:
        start = cuda.blockIdx.x * 64
        total = float32(0)
        for i in range(start, min(start + 64, x.size)):
            total += x[i]  # <- serial-work (warning)
            y[i] = total
