# exercise: mix_tiles
# marked: wrong; cause: top is replaced before the old mix is rescaled with it, so the factor is always 1; code: missing-rescale|wrong-formula; lines: [14, 15]
import math
from numba import cuda, float32


@cuda.jit
def mix_tiles(s, V, out):
    x = cuda.threadIdx.x
    top, mixed = float32(-math.inf), float32(0)
    for first in range(0, s.shape[0], 8):
        new = top
        for j in range(first, first + 8):
            if s[j] > new:
                new = s[j]
        top = new
        mixed = mixed * math.exp(top - new)
        for j in range(first, first + 8):
            weight = math.exp(s[j] - top)
            mixed += weight * V[j, x]
        out[first // 8, x] = mixed
