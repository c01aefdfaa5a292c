# exercise: sum_of_three
# marked: wrong; cause: the left neighbour of the very first number is fetched at index -1, which is the last number of x, instead of being 0; code: wrong-index|wrong-bounds-check; lines: [11]
from numba import cuda, float32


@cuda.jit
def sum_of_three(x, y):
    s = cuda.shared.array(130, float32)
    t = cuda.threadIdx.x
    g = cuda.blockIdx.x * 128 + t
    s[t + 1] = x[g] if g < x.size else float32(0)
    if t == 0:
        s[0] = x[g - 1]
    elif t == 127:
        s[129] = x[g + 1] if g + 1 < x.size else float32(0)
    cuda.syncthreads()
    if g < x.size:
        y[g] = s[t] + s[t + 1] + s[t + 2]
