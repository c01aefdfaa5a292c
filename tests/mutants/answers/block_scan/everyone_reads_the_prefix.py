# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        acc = float32(0)
        for j in range(i - cuda.threadIdx.x, i + 1):  # <- excess-global-traffic, not-used
            acc += x[j]  # <- excess-global-traffic, not-used
        y[i] = acc
