# exercise: mix_tiles
# marked: wrong; cause: V is read at the key's number within its tile, so every tile mixes the first eight values; code: wrong-index; lines: [21]
import math
from numba import cuda, float32


@cuda.jit(device=True)
def largest(s, first, top):
    for j in range(8):
        top = max(top, s[first + j])
    return top


@cuda.jit
def mix_tiles(s, V, out):
    x = cuda.threadIdx.x
    old = float32(-math.inf)
    acc = float32(0)
    for tile in range(out.shape[0]):
        new = largest(s, 8 * tile, old)
        acc *= math.exp(old - new)
        for j in range(8):
            acc += math.exp(s[8 * tile + j] - new) * V[j, x]
        out[tile, x] = acc
        old = new
