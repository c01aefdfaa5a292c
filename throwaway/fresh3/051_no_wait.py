# exercise: sum_of_three
# marked: wrong; cause: there is no barrier between the loads into shared memory and the sums of neighbours; code: race-read-after-write; lines: [19]
from numba import cuda, float32


@cuda.jit(device=True)
def number(x, k):
    return x[k] if k >= 0 and k < x.shape[0] else float32(0)


@cuda.jit
def sum_of_three(x, y):
    strip = cuda.shared.array(130, float32)
    t = cuda.threadIdx.x
    begin = 128 * cuda.blockIdx.x
    strip[t + 1] = number(x, begin + t)
    if t < 2:
        strip[129 * t] = number(x, begin - 1 + 129 * t)
    i = begin + t
    if i < y.shape[0]:
        y[i] = strip[t] + strip[t + 1] + strip[t + 2]
