# EXERCISE block_scan
from numba import cuda, float32

N = 64


@cuda.jit
def block_scan(x, y):
    tree = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own = float32(0)
    if i < x.size:
        own = x[i]
    tree[t] = own
    d = 1
    while d < N:
        cuda.syncthreads()
        k = (t + 1) * 2 * d - 1
        if k < N:
            tree[k] += tree[k - d]
        d *= 2
    cuda.syncthreads()
    while d > 1:  # <- wrong-formula, accumulator-error
        d //= 2
        cuda.syncthreads()
        k = (t + 1) * 2 * d - 1
        if k < N:
            left = tree[k - d]
            tree[k - d] = tree[k]  # <- wrong-formula, accumulator-error
            tree[k] += left  # <- wrong-formula, accumulator-error
    cuda.syncthreads()
    if i < x.size:
        y[i] = tree[t] + own  # <- wrong-formula, accumulator-error
