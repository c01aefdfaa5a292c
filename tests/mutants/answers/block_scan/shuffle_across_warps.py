# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    d = 1
    while d < RUN:  # <- wrong-index, wrong-loop-bound, wrong-formula
        up = cuda.shfl_up_sync(0xFFFFFFFF, v, d)  # <- wrong-index, wrong-formula, wrong-result
        if t >= d:  # <- wrong-bounds-check, wrong-index
            v += up
        d *= 2
    if i < x.size:
        y[i] = v
