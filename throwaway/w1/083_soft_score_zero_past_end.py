# exercise: attention
# marked: wrong; cause: Keys past the end keep the score 0 of their zero row and so get a weight; code: missing-mask; lines: [33, 36]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    queries, keys = Q.shape[0], K.shape[0]
    sQ[ty, tx] = float32(0)
    if row < queries:
        sQ[ty, tx] = Q[row, tx]
    best = float32(-math.inf)
    weight_sum = float32(0)
    out = float32(0)
    base = 0
    while base < keys:
        for y in (ty, ty + 16):
            sK[y, tx] = float32(0)
            sV[y, tx] = float32(0)
            if base + y < keys:
                sK[y, tx] = K[base + y, tx]
                sV[y, tx] = V[base + y, tx]
        cuda.syncthreads()
        score = float32(0)
        for k in range(32):
            score += sQ[ty, k] * sK[tx, k]
        score *= SCALE
        high = score
        d = 16
        while d > 0:
            high = max(high, cuda.shfl_xor_sync(0xFFFFFFFF, high, d))
            d //= 2
        high = max(high, best)
        w = math.exp(score - high)
        fade = math.exp(best - high)
        weight_sum *= fade
        out *= fade
        for j in range(32):
            wj = cuda.shfl_sync(0xFFFFFFFF, w, j)
            weight_sum += wj
            out += wj * sV[j, tx]
        best = high
        cuda.syncthreads()
        base += TILE
    if row < queries:
        O[row, tx] = out / weight_sum
