# exercise: grid_stride
# marked: wrong; cause: the share of a thread is rounded down, so the numbers that remain after the division belong to nobody; code: wrong-loop-bound|incomplete-output; lines: [9, 10]
from numba import cuda


@cuda.jit
def grid_stride(x, y):
    # everybody gets an equal piece
    workers = cuda.gridsize(1)
    me = cuda.grid(1)
    share = x.shape[0] // workers
    for k in range(me * share, (me + 1) * share):
        y[k] = 2 * x[k]
