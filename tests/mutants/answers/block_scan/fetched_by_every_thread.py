from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(i // 64 * 64, i + 1):
            total += x[k]  # <- excess-global-traffic
        y[i] = total
