# exercise: block_scan
# marked: right; style: two levels: sums within groups of eight, then the totals of the groups before
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    numbers = cuda.shared.array(RUN, float32)
    totals = cuda.shared.array(8, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    group = t // 8
    numbers[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    here = float32(0)
    for j in range(8 * group, t + 1):
        here += numbers[j]
    if t % 8 == 7:
        totals[group] = here
    cuda.syncthreads()
    for g in range(group):
        here += totals[g]
    if i < y.size:
        y[i] = here
