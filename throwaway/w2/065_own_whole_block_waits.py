# exercise: own_tiles
# marked: wrong; cause: the waits are for the whole block, but the warps leave the loop after different numbers of iterations; code: barrier-divergence; lines: [13, 21]
import math
from numba import cuda, float32


@cuda.jit
def own_tiles(S, L):
    handed = cuda.shared.array((4, 32), float32)
    lane, row = cuda.threadIdx.x, cuda.threadIdx.y
    top, total = float32(-math.inf), float32(0)
    tile = 0
    while tile <= row:
        handed[row, lane] = S[row, 32 * tile + lane]
        cuda.syncthreads()
        new = top
        for j in range(32):
            new = max(new, handed[row, j])
        total *= math.exp(top - new)
        for j in range(32):
            total += math.exp(handed[row, j] - new)
        top = new
        cuda.syncthreads()
        tile += 1
    if lane == 0:
        L[row] = top + math.log(total)
