# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    if cuda.threadIdx.x == 0:  # <- serial-work (warning)
        first = cuda.blockIdx.x * RUN
        total = float32(0)
        for i in range(first, min(first + RUN, x.size)):  # <- serial-work (warning)
            total += x[i]  # <- serial-work (warning)
            y[i] = total  # <- serial-work (warning)
