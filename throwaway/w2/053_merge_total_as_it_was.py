# exercise: merge_parts
# marked: wrong; cause: the weighted sum is rescaled when the largest L changes, but the sum of the weights is not; code: missing-rescale|accumulator-error; lines: [15]
import math
from numba import cuda, float32


@cuda.jit
def merge_parts(O, L, out):
    x = cuda.threadIdx.x
    top = L[0]
    weights = float32(1)
    mixed = O[0, x]
    for i in range(1, L.shape[0]):
        new = max(top, L[i])
        shrink = math.exp(top - new)
        w = math.exp(L[i] - new)
        weights = weights + w
        mixed = mixed * shrink + w * O[i, x]
        top = new
    out[x] = mixed / weights
