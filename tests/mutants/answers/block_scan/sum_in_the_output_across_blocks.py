from numba import cuda


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]  # <- race-read-after-write
        if i % 64 > 0:
            y[i] += y[i - 1]  # <- race-read-after-write
