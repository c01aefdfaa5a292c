# exercise: mix_tiles
# marked: right
import math
from numba import cuda, float32


@cuda.jit
def mix_tiles(s, V, out):
    x = cuda.threadIdx.x
    top = s[0]
    mixed = V[0, x]                 # exp(0) times the first value
    for j in range(1, s.shape[0]):
        if s[j] > top:
            mixed *= math.exp(top - s[j])
            top = s[j]
            mixed += V[j, x]
        else:
            mixed += math.exp(s[j] - top) * V[j, x]
        if j % 8 == 7:
            out[j // 8, x] = mixed
