# exercise: segmented_max
# marked: right
from numba import cuda, float32

GROUP = 8


@cuda.jit
def segmented_max(x, y):
    """Eights: within each the maxima up to a thread, then the maxima of the eights before it."""
    raw = cuda.shared.array(64, float32)
    tops = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    lowest = float32(-3.4e38)
    raw[t] = lowest
    if i < x.shape[0]:
        raw[t] = x[i]
    cuda.syncthreads()

    group = t // GROUP
    mine = raw[group * GROUP]
    for k in range(group * GROUP + 1, t + 1):
        mine = max(mine, raw[k])
    if t % GROUP == GROUP - 1:
        tops[group] = mine
    cuda.syncthreads()

    before = lowest
    for g in range(group):
        before = max(tops[g], before)
    if not i >= y.shape[0]:
        y[i] = max(before, mine)
