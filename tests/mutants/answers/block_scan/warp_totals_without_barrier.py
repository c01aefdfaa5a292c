from numba import cuda, float32

EVERYONE = 0xFFFFFFFF


@cuda.jit
def block_scan(x, y):
    totals = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    lane = t % 32
    total = x[i] if i < x.size else float32(0)
    step = 1
    while step < 32:
        other = cuda.shfl_up_sync(EVERYONE, total, step)
        if lane >= step:
            total += other
        step *= 2
    if lane == 31:
        totals[t // 32] = total  # <- race-read-after-write
    if t >= 32:
        total += totals[0]  # <- race-read-after-write
    if i < x.size:
        y[i] = total
