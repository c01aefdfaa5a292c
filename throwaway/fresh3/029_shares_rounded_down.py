# exercise: grid_stride
# marked: wrong; cause: each thread's share is the length divided by the threads and rounded down, so that the numbers left over are never written; code: incomplete-output|wrong-loop-bound|integer-arithmetic; lines: [8]
from numba import cuda


@cuda.jit
def grid_stride(x, y):
    """Every thread takes a stretch of neighbours."""
    me = cuda.grid(1)
    share = x.shape[0] // cuda.gridsize(1)
    begin = me * share
    for i in range(begin, begin + share):
        y[i] = x[i] + x[i]
