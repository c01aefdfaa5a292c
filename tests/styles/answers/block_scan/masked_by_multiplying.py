import numpy as np
from numba import cuda


@cuda.jit
def block_scan(values, sums):
    """No branch around the reads: the index is clamped, and a factor of zero masks the term."""
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    last = values.size - 1
    s[t] = values[min(i, last)] * np.float32(i <= last)
    cuda.syncthreads()
    stride = 1
    while stride < 64:
        term = s[max(t - stride, 0)] * np.float32(t >= stride)
        cuda.syncthreads()
        s[t] += term
        cuda.syncthreads()
        stride <<= 1
    if i <= last:
        sums[i] = s[t]
