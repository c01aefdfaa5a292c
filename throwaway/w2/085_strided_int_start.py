# exercise: strided_sums
# marked: wrong; cause: the sum starts as the integer 0, which makes it a float64; code: float64-arithmetic|accumulator-error; lines: [7]
from numba import cuda


@cuda.jit
def strided_sums(x, y):
    me = cuda.threadIdx.x + 32 * cuda.blockIdx.x
    total = 0
    k = me
    while k < 200:
        total += x[k]
        k += 64
    y[me] = total
