# exercise: attention
# marked: right
import math

import numpy as np
from numba import cuda, float32

TILE = 64
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    # the maximum is followed key by key; a tile has 64 keys, two for each lane
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    s = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    sQ[ty, tx] = Q[row, tx] if row < Q.shape[0] else float32(0)
    top = float32(-math.inf)
    total = float32(0)
    out = float32(0)
    rest = K.shape[0]
    first = 0
    while rest > 0:
        here = min(rest, TILE)
        y = ty
        while y < here:
            sK[y, tx] = K[first + y, tx]
            sV[y, tx] = V[first + y, tx]
            y += 16
        cuda.syncthreads()
        for j in range(tx, here, 32):
            dot = float32(0)
            for k in range(32):
                dot += sQ[ty, k] * sK[j, k]
            s[ty, j] = dot * SCALE
        cuda.syncthreads()
        for j in range(here):
            if s[ty, j] > top:
                shrink = math.exp(top - s[ty, j])
                total *= shrink
                out *= shrink
                top = s[ty, j]
            w = math.exp(s[ty, j] - top)
            total += w
            out += w * sV[j, tx]
        cuda.syncthreads()
        first += here
        rest -= here
    if row < Q.shape[0]:
        O[row, tx] = out / total
