# exercise: grid_stride
# marked: wrong; cause: the loop stops before the last element because the bound is the last index and the comparison is strict; code: wrong-loop-bound|incomplete-output; lines: [6, 8]
from numba import cuda


@cuda.jit
def grid_stride(x, y):
    last = x.shape[0] - 1
    where = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    while where < last:
        y[where] = 2 * x[where]
        where = where + cuda.gridsize(1)
