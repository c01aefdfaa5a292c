# exercise: tree_sum
# marked: wrong; cause: in each round the active threads' places lie twice as far apart, so that up to 32 lanes meet in one bank; code: bank-conflict; lines: [12, 14]
from numba import cuda, float32


@cuda.jit
def tree_sum(x, y):
    v = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    v[t] = x[t]
    gap = 1
    while gap < 1024:
        cuda.syncthreads()
        place = 2 * gap * t
        if place < 1024:
            v[place] += v[place + gap]
        gap *= 2
    if t == 0:
        y[0] = v[0]
