from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    """Up the tree and down again; the own element makes the exclusive sums inclusive."""
    tree = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own = x[i] if i < x.size else float32(0)
    tree[t] = own
    stride = 1
    while stride < RUN:
        cuda.syncthreads()
        right = (t + 1) * stride * 2 - 1
        if right < RUN:
            tree[right] += tree[right - stride]
        stride *= 2
    cuda.syncthreads()
    if t == 0:
        tree[RUN - 1] = 0
    while stride > 1:
        stride //= 2
        cuda.syncthreads()
        right = (t + 1) * stride * 2 - 1
        if right < RUN:
            left = tree[right - stride]
            tree[right - stride] = tree[right]
            tree[right] += left
    cuda.syncthreads()
    if i < x.size:
        y[i] = tree[t] + own
