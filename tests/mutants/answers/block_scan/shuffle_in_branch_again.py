from numba import cuda, float32

FULL = 0xFFFFFFFF


@cuda.jit
def block_scan(x, y):
    """Two warps scan on their own, by shuffles; the second one adds what the first one has."""
    first = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    lane = cuda.laneid
    total = x[i] if i < x.size else float32(0)
    for k in range(5):
        step = 1 << k
        if lane >= step:  # <- barrier-divergence
            total += cuda.shfl_up_sync(FULL, total, step)  # <- barrier-divergence
    if t == 31:
        first[0] = total
    cuda.syncthreads()
    if t > 31:
        total += first[0]
    if i < x.size:
        y[i] = total
