# EXERCISE block_scan
from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    two = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    g = cuda.blockIdx.x * 64 + t
    two[0, t] = x[g] if g < x.shape[0] else float32(0)
    src = 0
    for p in range(6):
        d = 2 * p  # <- wrong-formula, wrong-index, wrong-loop-bound
        cuda.syncthreads()
        if t >= d:
            two[1 - src, t] = two[src, t] + two[src, t - d]
        else:
            two[1 - src, t] = two[src, t]
        src = 1 - src
    if g < y.shape[0]:
        y[g] = two[src, t]
