from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = 0.0  # <- float64-arithmetic
        for k in range(i // 64 * 64, i + 1):
            total += x[k]
        y[i] = total
