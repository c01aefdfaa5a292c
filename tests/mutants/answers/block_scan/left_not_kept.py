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
    if t == 0:
        tree[N - 1] = float32(0)
    while d > 1:
        d //= 2
        cuda.syncthreads()
        k = (t + 1) * 2 * d - 1
        if k < N:
            tree[k - d] = tree[k]  # <- wrong-formula, wrong-index
            tree[k] += tree[k - d]  # <- wrong-formula, wrong-index, accumulator-error
    cuda.syncthreads()
    if i < x.size:
        y[i] = tree[t] + own
