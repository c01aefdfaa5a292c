# exercise: grid_stride
# marked: wrong; cause: the loop starts at the thread's number in its block, so the second block repeats the first one's elements and nobody takes 4 to 7 of every eight; code: wrong-index|incomplete-output; lines: [8]
from numba import cuda


@cuda.jit
def grid_stride(x, y):
    n = x.size
    step = cuda.gridDim.x * cuda.blockDim.x
    i = cuda.threadIdx.x
    while i < n:
        y[i] = x[i] + x[i]
        i += step
