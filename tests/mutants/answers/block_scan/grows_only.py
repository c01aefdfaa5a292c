# EXERCISE block_scan
from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    cells = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    t = i % 64
    size = x.size
    cells[t] = float32(0)
    if i < size:
        cells[t] = x[i]
    d = 1
    while d <= 32:
        cuda.syncthreads()
        now = cells[t]
        if t - d >= 0 and cells[t - d] > 0:  # <- wrong-formula, wrong-bounds-check
            now = now + cells[t - d]
        cuda.syncthreads()
        cells[t] = now
        d += d
    if i < size:
        y[i] = now
