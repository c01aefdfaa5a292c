# exercise: attention
# marked: wrong; cause: no barrier stands between the use of a tile of keys and values and the loads of the next one; code: race-write-after-read; lines: [33, 34]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit(device=True)
def bring(tile, M, first, x, y):
    for r in range(y, TILE, 16):
        tile[r, x] = M[first + r, x] if first + r < M.shape[0] else float32(0)


@cuda.jit
def attention(Q, K, V, O):
    keys = cuda.shared.array((TILE, 33), float32)
    values = cuda.shared.array((TILE, 33), float32)
    shares = cuda.shared.array((16, TILE), float32)
    query = cuda.local.array(32, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.x * 16 + y
    given = cuda.shared.array((16, 32), float32)
    given[y, x] = Q[i, x] if i < Q.shape[0] else float32(0)
    cuda.syncthreads()
    for d in range(32):
        query[d] = given[y, d]
    top = float32(-math.inf)
    below = float32(0)
    above = float32(0)
    for first in range(0, K.shape[0], TILE):
        bring(keys, K, first, x, y)
        bring(values, V, first, x, y)
        cuda.syncthreads()
        mine = float32(-math.inf)
        if first + x < K.shape[0]:
            mine = float32(0)
            for d in range(32):
                mine += query[d] * keys[x, d]
            mine *= SCALE
        shares[y, x] = mine
        cuda.syncwarp()
        peak = top
        for j in range(TILE):
            peak = max(peak, shares[y, j])
        less = math.exp(top - peak)
        below = below * less
        above = above * less
        for j in range(TILE):
            share = math.exp(shares[y, j] - peak)
            below += share
            above += share * values[j, x]
        top = peak
        cuda.syncwarp()
    if i < O.shape[0]:
        O[i, x] = above / below
