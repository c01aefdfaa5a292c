# exercise: strided_sums
# marked: wrong; cause: the loop's end is rounded down to whole rounds of 64, so the last eight numbers are never added; code: wrong-loop-bound; lines: [8, 10]
from numba import cuda, float32


@cuda.jit
def strided_sums(x, y):
    lane = cuda.grid(1)
    width = y.shape[0]
    rounds = x.shape[0] // width
    s = float32(0)
    for r in range(rounds):
        s += x[lane + r * width]
    y[lane] = s
