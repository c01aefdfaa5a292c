# exercise: running_totals
# marked: wrong; cause: the total is noted after the first product of a chunk instead of after its last; code: wrong-index|wrong-formula|wrong-bounds-check; lines: [9]
from numba import cuda, float32


@cuda.jit
def running_totals(x, y, totals):
    total = float32(0)
    for k in range(x.shape[0]):
        total += x[k] * y[k]
        if k % 4 == 0:
            totals[k // 4] = total
