# EXERCISE block_scan
from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(64, float32)
    low = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    lane = t % 32
    total = float32(0)
    for j in range(t - lane, t + 1):
        total += s[j]
    if t < 32:
        low[t] = total
    cuda.syncthreads()
    if t >= 32:
        total += low[-1]
    if i < x.size:
        y[i] = total
