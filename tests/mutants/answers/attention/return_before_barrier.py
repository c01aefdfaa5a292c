import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32) / math.log(2))  # for powers of 2


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    weights = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    queries, keys = Q.shape[0], K.shape[0]
    if row >= queries:  # <- barrier-divergence
        return  # <- barrier-divergence

    sQ[ty, tx] = Q[row, tx] if row < queries else float32(0)
    top = float32(-math.inf)
    total = float32(0)
    out = float32(0)
    for first in range(0, keys, TILE):
        for y in range(ty, TILE, 16):
            inside = first + y < keys
            sK[y, tx] = K[first + y, tx] if inside else float32(0)
            sV[y, tx] = V[first + y, tx] if inside else float32(0)
        cuda.syncthreads()

        score = float32(0)
        for k in range(32):
            score += sQ[ty, k] * sK[tx, k]
        score *= SCALE
        if first + tx >= keys:
            score = float32(-math.inf)
        weights[ty, tx] = score
        cuda.syncthreads()

        new_top = top
        for j in range(TILE):
            new_top = max(new_top, weights[ty, j])
        cuda.syncthreads()
        weights[ty, tx] = float32(2) ** (score - new_top)
        cuda.syncthreads()

        factor = float32(2) ** (top - new_top)
        total *= factor
        out *= factor
        for j in range(TILE):
            total += weights[ty, j]
            out += weights[ty, j] * sV[j, tx]
        top = new_top
        cuda.syncthreads()

    if row < queries:
        O[row, tx] = out / total
