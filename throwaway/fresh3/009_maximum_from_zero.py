# exercise: merge_parts
# marked: wrong; cause: the running maximum starts at 0 and not at minus infinity, so that with very negative L every weight becomes 0 and 0 is divided by 0; code: numerical-overflow|wrong-formula; lines: [9]
import math

from numba import cuda, float32


@cuda.jit
def merge_parts(O, L, out):
    c = cuda.threadIdx.x
    peak = float32(0)
    for i in range(L.shape[0]):
        if L[i] > peak:
            peak = L[i]
    below = float32(0)
    above = float32(0)
    for i in range(L.shape[0]):
        share = math.exp(L[i] - peak)
        below += share
        above += share * O[i, c]
    out[c] = above / below
