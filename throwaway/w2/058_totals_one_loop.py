# exercise: running_totals
# marked: right
from numba import cuda, float32


@cuda.jit
def running_totals(x, y, totals):
    total, left, slot = float32(0), 4, 0
    for k in range(len(x)):
        total += x[k] * y[k]
        left -= 1
        if left == 0:       # the chunk is full
            totals[slot] = total
            slot += 1
            left = 4
