# exercise: reverse_sixteen
# marked: wrong; cause: the numbers are turned round on the way in and again on the way out, so they come back as they were; code: wrong-index; lines: [9, 11]
from numba import cuda, float32


@cuda.jit
def reverse_sixteen(x, y):
    buffer = cuda.shared.array(16, float32)
    me = cuda.threadIdx.x
    other = 15 - me
    buffer[other] = x[me]
    cuda.syncthreads()
    y[me] = buffer[other]
