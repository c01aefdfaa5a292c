# exercise: own_tiles
# marked: wrong; cause: the waits are barriers of the whole block, in a loop that the warps leave after different numbers of iterations; code: barrier-divergence; lines: [15, 23]
import math

from numba import cuda, float32


@cuda.jit
def own_tiles(S, L):
    board = cuda.shared.array((4, 32), float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    m = float32(-math.inf)
    s = float32(0)
    tile = 0
    while tile <= warp:
        board[warp, lane] = S[warp, 32 * tile + lane]
        cuda.syncthreads()
        higher = m
        for j in range(32):
            higher = max(higher, board[warp, j])
        s = s * math.exp(m - higher)
        for j in range(32):
            s += math.exp(board[warp, j] - higher)
        m = higher
        cuda.syncthreads()
        tile += 1
    if lane == 0:
        L[warp] = m + math.log(s)
