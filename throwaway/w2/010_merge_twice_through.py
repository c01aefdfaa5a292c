# exercise: merge_parts
# marked: right
import math
from numba import cuda, float32


@cuda.jit(device=True)
def highest(L):
    best = L[0]
    for i in range(1, L.shape[0]):
        if L[i] > best:
            best = L[i]
    return best


@cuda.jit
def merge_parts(O, L, out):
    column = cuda.threadIdx.x
    top = highest(L)
    above, below = float32(0), float32(0)
    i = L.shape[0]
    while i > 0:
        i -= 1
        w = math.exp(L[i] - top)
        above += w * O[i, column]
        below += w
    out[column] = above / below
