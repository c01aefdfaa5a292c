from numba import cuda, float32

RUN = 64
WARPS = 2


@cuda.jit
def block_scan(x, y):
    """Each warp scans its half with warp barriers; the totals of the warps are added after one."""
    part = cuda.shared.array(RUN, float32)
    totals = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncwarp()
    step = 1
    while step < 32:
        before = part[t - step] if lane >= step else float32(0)
        cuda.syncwarp()
        part[t] += before
        cuda.syncwarp()
        step *= 2
    if lane == 31:
        totals[warp] = part[t]
    cuda.syncthreads()
    total = part[t]
    for w in range(warp):
        total += totals[w]
    if i < x.size:
        y[i] = total
