from numba import cuda


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(i, min(i // 64 * 64 + 64, x.size)):
            cuda.atomic.add(y, k, x[i])  # <- uninitialised-read
