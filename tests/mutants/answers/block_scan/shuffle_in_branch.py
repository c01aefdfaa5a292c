# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    totals = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    d = 1
    while d < 32:
        if lane >= d:  # <- barrier-divergence
            v += cuda.shfl_up_sync(0xFFFFFFFF, v, d)  # <- barrier-divergence
        d *= 2
    if lane == 31:
        totals[warp] = v
    cuda.syncthreads()
    if warp == 1:
        v += totals[0]
    if i < x.size:
        y[i] = v
