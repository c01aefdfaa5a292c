# EXERCISE block_scan
import numpy as np
from numba import cuda

ALL = 0xFFFFFFFF


@cuda.jit
def block_scan(x, y):
    totals = cuda.shared.array(2, np.float32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    i = cuda.blockIdx.x * 64 + t
    v = np.float32(0)
    if i < x.size:
        v = x[i]
    d = 1
    while d < 32:
        up = cuda.shfl_up_sync(ALL, v, d)
        if lane > d:  # <- wrong-bounds-check, wrong-index
            v += up
        d *= 2
    if lane == 31:
        totals[warp] = v
    cuda.syncthreads()
    if warp == 1:
        v += totals[0]
    if i < x.size:
        y[i] = v
