# exercise: running_totals
# marked: wrong; cause: the chunk's own sum is never set back, so the earlier chunks are added again and again; code: accumulator-error; lines: [7, 11]
from numba import cuda, float32


@cuda.jit
def running_totals(x, y, totals):
    total = float32(0)
    part = float32(0)
    for c in range(totals.shape[0]):
        for j in range(4):
            part += x[4 * c + j] * y[4 * c + j]
        total += part
        totals[c] = total
