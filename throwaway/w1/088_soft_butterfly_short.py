# exercise: attention
# marked: wrong; cause: The exchange of the maximum starts with distance 8, so the two halves of a warp never learn of each other's maximum; code: wrong-loop-bound|wrong-index|wrong-formula; lines: [13]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_max(v):
    d = 8
    while d >= 1:
        v = max(v, cuda.shfl_xor_sync(ALL, v, d))
        d = d >> 1
    return v


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    keys = K.shape[0]
    sQ[ty, tx] = Q[row, tx] if row < Q.shape[0] else float32(0)
    top, total, out = float32(-1e30), float32(0), float32(0)
    first = 0
    while first < keys:
        y = ty
        while y < TILE:
            sK[y, tx] = K[first + y, tx] if first + y < keys else float32(0)
            sV[y, tx] = V[first + y, tx] if first + y < keys else float32(0)
            y += 16
        cuda.syncthreads()
        score = float32(0)
        for k in range(32):
            score += sQ[ty, k] * sK[tx, k]
        score = score * SCALE if first + tx < keys else float32(-1e30)
        new_top = max(top, warp_max(score))
        w = math.exp(score - new_top)
        factor = math.exp(top - new_top)
        total *= factor
        out *= factor
        for j in range(TILE):
            wj = cuda.shfl_sync(ALL, w, j)
            total += wj
            out += wj * sV[j, tx]
        top = new_top
        cuda.syncthreads()
        first += TILE
    if row < Q.shape[0]:
        O[row, tx] = out / total
