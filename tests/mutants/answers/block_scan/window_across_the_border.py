from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(max(0, i - 63), i + 1):  # <- wrong-loop-bound
            total += x[k]
        y[i] = total
