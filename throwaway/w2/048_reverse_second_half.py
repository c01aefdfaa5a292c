# exercise: reverse_sixteen
# marked: wrong; cause: the line for the second half was copied and still reads the place of the first half; code: wrong-index; lines: [12]
from numba import cuda, float32


@cuda.jit
def reverse_sixteen(x, y):
    buffer = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    buffer[i] = x[i]
    cuda.syncthreads()
    if i < 8:
        y[i] = buffer[15 - i]
        y[15 - i] = buffer[15 - i]
