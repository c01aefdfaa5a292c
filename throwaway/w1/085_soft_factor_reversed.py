# exercise: attention
# marked: wrong; cause: The factor for the old sums is the exponential of new minus old maximum, with the sign reversed; code: wrong-formula|missing-rescale|numerical-overflow; lines: [15]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))
NOTHING = np.float32(-1e30)


@cuda.jit(device=True)
def correction(before, after):
    if before == NOTHING:
        return float32(0)
    return math.exp(after - before)


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    s = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    keys = K.shape[0]
    sQ[ty, tx] = Q[row, tx] if row < Q.shape[0] else float32(0)
    top, total, out = NOTHING, float32(0), float32(0)
    for first in range(0, keys, TILE):
        for r in range(ty, TILE, 16):
            sK[r, tx] = K[first + r, tx] if first + r < keys else float32(0)
            sV[r, tx] = V[first + r, tx] if first + r < keys else float32(0)
        cuda.syncthreads()
        score = float32(0)
        for c in range(32):
            score += sQ[ty, c] * sK[tx, c]
        s[ty, tx] = score * SCALE if first + tx < keys else NOTHING
        cuda.syncthreads()
        new_top = top
        for j in range(TILE):
            new_top = max(new_top, s[ty, j])
        f = correction(top, new_top)
        total *= f
        out *= f
        for j in range(TILE):
            e = math.exp(s[ty, j] - new_top)
            total += e
            out += e * sV[j, tx]
        top = new_top
        cuda.syncthreads()
    if row < Q.shape[0]:
        O[row, tx] = out / total
