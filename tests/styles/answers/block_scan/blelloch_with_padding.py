from numba import cuda, float32

RUN = 64
THREADS = 32
BLOCK = (THREADS,)
CELLS = RUN + RUN // 32


@cuda.jit(device=True)
def cell(k):
    """One word is left out after every 32, so that strides of 2, 4, … meet other banks."""
    return k + k // 32


@cuda.jit
def block_scan(x, y):
    """32 threads with two elements each, over a padded tree."""
    tree = cuda.shared.array(CELLS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * RUN
    for k in range(t, RUN, THREADS):
        tree[cell(k)] = x[start + k] if start + k < x.size else float32(0)
    stride = 1
    while stride < RUN:
        cuda.syncthreads()
        right = (t + 1) * stride * 2 - 1
        if right < RUN:
            tree[cell(right)] += tree[cell(right - stride)]
        stride *= 2
    stride = RUN // 4
    while stride > 0:
        cuda.syncthreads()
        right = (t + 1) * stride * 2 - 1
        if right + stride < RUN:
            tree[cell(right + stride)] += tree[cell(right)]
        stride //= 2
    cuda.syncthreads()
    for k in range(t, RUN, THREADS):
        if start + k < x.size:
            y[start + k] = tree[cell(k)]
