# exercise: quad_sum
# marked: wrong; cause: the first lane of the four is worked out with the remainder by 4 instead of the quotient; code: wrong-index; lines: [7]
from numba import cuda, float32


@cuda.jit(device=True)
def quad_sum(part):
    lane = cuda.threadIdx.x
    first = lane % 4 * 4
    total = float32(0)
    for k in range(4):
        total += cuda.shfl_sync(0xFFFFFFFF, part, first + k)
    return total
